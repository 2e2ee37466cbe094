import { beforeEach, describe, expect, it } from "vitest";
import { aMesh, aNode, aView, aWorld, conn, unknown } from "../../test/support/build.ts";
import { FakeClock } from "../../test/support/fake-clock.ts";
import type { PeerName } from "../core/ids.ts";
import { Recall } from "../core/recall.ts";
import type { World } from "../core/world.ts";
import { Reactions } from "./reactions.ts";
import { type SyncPorts, syncTarget } from "./sync-target.ts";

const mesh = aMesh(2);
const source = conn(1);
const target = conn(2);

let clock: FakeClock;
let reactions: Reactions;
let measured: [string, number][];
let woken: string[];

beforeEach(() => {
  clock = new FakeClock();
  measured = [];
  woken = [];
  reactions = new Reactions({ clock, onReaction: (id, ms) => measured.push([id, ms]) });
});

/** One run of the target, in which each write takes `writeMs` and the answers are `refused`. */
async function run(world: World | undefined, { writeMs = 0, refused = [] as string[] } = {}): Promise<void> {
  const ports: SyncPorts = {
    recall: new Recall(),
    announce: () => undefined,
    observe: () => world,
    apply: async (_, changes) => {
      if (changes.length > 0) clock.jump(writeMs);
      return refused.map((text) => ({ text, owners: [], peer: "x" as PeerName }));
    },
    record: () => undefined,
    wake: (id) => void woken.push(id),
    resolve: () => undefined,
    prove: () => undefined,
    proveGhosts: () => undefined,
  };
  await syncTarget(target, reactions.measured(target, ports));
}

/** Cluster 1 has a node that cluster 2 has no Peer of yet. */
const oneToWrite = (): World => aWorld({ meshes: [mesh], views: [aView([aNode(1, 0)]), aView([aNode(2, 0)])] });
const nothingToWrite = (): World => aWorld({ meshes: [mesh], views: [aView([]), aView([aNode(2, 0)])] });

describe("a reaction", () => {
  it("lasts from the first change that arrived to the end of the last write", async () => {
    reactions.changed(target);
    clock.jump(20);
    reactions.changed(target);
    clock.jump(20);
    await run(oneToWrite(), { writeMs: 5 });
    expect(measured).toEqual([[target, 45]]);
  });

  it("is measured once, not again by a later run", async () => {
    reactions.changed(target);
    await run(oneToWrite());
    await run(oneToWrite());
    expect(measured).toHaveLength(1);
  });

  it("that needs no write is none", async () => {
    reactions.changed(target);
    await run(nothingToWrite());
    clock.jump(1000);
    await run(oneToWrite());
    expect(measured).toEqual([]);
  });

  it("goes on while writes are refused", async () => {
    reactions.changed(target);
    await run(oneToWrite(), { refused: ["create x: forbidden"] });
    expect(measured).toEqual([]);
    clock.jump(5000);
    await run(oneToWrite());
    expect(measured).toEqual([[target, 5000]]);
  });

  it("ends with its last write, also when a later run only finds that nothing is left", async () => {
    reactions.changed(target);
    clock.jump(10);
    const two = aWorld({ meshes: [mesh], views: [aView([aNode(1, 0), aNode(1, 1)]), aView([aNode(2, 0)])] });
    await run(two, { refused: ["create x: conflict"] });
    clock.jump(500);
    await run(nothingToWrite());
    expect(measured).toEqual([[target, 10]]);
  });

  it("does not count the time in which the target is unknown", async () => {
    reactions.changed(target);
    const views = [aView([aNode(1, 0)]), aView([], { peers: unknown })];
    await run(aWorld({ meshes: [mesh], views }));
    clock.jump(3_600_000);
    await run(oneToWrite());
    reactions.changed(target);
    await run(undefined);
    await run(oneToWrite());
    expect(measured).toEqual([]);
  });

  it("is handed on to the connection that speaks for the same cluster", async () => {
    reactions.changed(target);
    clock.jump(10);
    await run(
      aWorld({ meshes: [mesh], views: [aView([]), aView([])], overrides: { twins: new Map([[target, source]]) } }),
    );
    expect(woken).toEqual([source]);
    const ports = reactions.measured(source, {
      recall: new Recall(),
      announce: () => undefined,
      observe: () => undefined,
      apply: async () => [],
      record: () => undefined,
      wake: () => undefined,
      resolve: () => undefined,
      prove: () => undefined,
      proveGhosts: () => undefined,
    });
    ports.observe();
    await ports.apply(source, [{ action: "delete" } as never]);
    ports.record(source, { plan: { state: "known" }, refusals: [], pending: 0 } as never);
    expect(measured).toEqual([[source, 10]]);
  });

  it("of a target that is gone is forgotten", async () => {
    reactions.changed(target);
    reactions.forget(target);
    clock.jump(1000);
    await run(oneToWrite());
    expect(measured).toEqual([]);
  });
});
