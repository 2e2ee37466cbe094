import { describe, expect, it } from "vitest";
import type { PeerChange } from "../../src/core/diff.ts";
import { Recall } from "../../src/core/recall.ts";
import type { Refusal, TargetReport } from "../../src/core/status.ts";
import type { ClusterView, World } from "../../src/core/world.ts";
import { type SyncPorts, syncTarget } from "../../src/operator/sync-target.ts";
import { aMesh, aNode, aView, aWorld, conn, heldAs, known, planOf, unknown } from "../support/build.ts";

const mesh = aMesh(2);
const nodes = [aNode(1, 0), aNode(1, 1)];

interface Scene {
  readonly one?: Partial<ClusterView>;
  readonly two?: Partial<ClusterView>;
  readonly refusals?: readonly Refusal[];
  readonly isKnown?: boolean;
}

/** One run for cluster 2, which holds the plan unless the scene says otherwise. */
async function run({ one = {}, two = {}, refusals = [], isKnown = true }: Scene = {}) {
  const bare = aWorld({ meshes: [mesh], views: [aView(nodes), aView([aNode(2, 0)])] });
  const peers = known(planOf(bare, 2).peers.map((peer) => heldAs(peer)));
  const views = [aView(nodes, one), aView([aNode(2, 0)], { peers, ...two })];
  const world: World | undefined = isKnown ? aWorld({ meshes: [mesh], views }) : undefined;
  const written: PeerChange[] = [];
  const reports: TargetReport[] = [];
  const ports: SyncPorts = {
    recall: new Recall(),
    announce: () => undefined,
    observe: () => world,
    apply: async (_, changes) => {
      written.push(...changes);
      return refusals;
    },
    record: (_, report) => void reports.push(report),
    wake: () => undefined,
    resolve: () => undefined,
    proveGhosts: () => undefined,
    prove: () => undefined,
  };
  return { outcome: await syncTarget(conn(2), ports), written, reports };
}

describe("a run for a cluster", () => {
  it("that holds what it should writes nothing and asks for no further run", async () => {
    const { outcome, written } = await run();
    expect([outcome, written]).toEqual([{ kind: "done" }, []]);
  });

  it("that cannot be seen writes nothing, says so and looks again after half a minute", async () => {
    const { outcome, written, reports } = await run({ two: { peers: unknown } });
    expect(outcome).toMatchObject({ kind: "waiting", afterMs: 30_000 });
    expect(written).toEqual([]);
    expect(reports).toMatchObject([{ plan: { state: "unknown", reason: "Unreachable" } }]);
  });

  it("before the list of meshes is known writes nothing and looks again after half a minute", async () => {
    const { outcome, written } = await run({ isKnown: false });
    expect(outcome).toMatchObject({ kind: "waiting", afterMs: 30_000 });
    expect(written).toEqual([]);
  });

  it("in which a write was refused is a failure, to be tried again with growing pauses", async () => {
    const { outcome } = await run({
      two: { peers: known([]) },
      refusals: [{ peer: "x" as never, text: "create x: forbidden", owners: [mesh.id] }],
    });
    expect(outcome.kind).toBe("failed");
  });

  it("that holds something back looks again when time can have changed that", async () => {
    const departures = [{ name: aNode(1, 1).name, afterMs: 12_000, needsList: false }];
    const { outcome } = await run({ one: { nodes: known(nodes.slice(0, 1)), departures } });
    expect(outcome).toMatchObject({ kind: "waiting", afterMs: 12_000 });
  });

  it("in which an endpoint is on its way looks again when the target has had the time to follow", async () => {
    const moved = aNode(1, 1, { forceEndpoint: "198.51.100.99:51820" });
    const report = new Map([[moved.key, { host: { ip: "198.51.100.11" }, port: 51820 }]]);
    const two = { observed: new Map([[aNode(2, 0).name, report]]) };
    const { outcome, written } = await run({ one: { nodes: known([aNode(1, 0), moved]) }, two });
    expect(written).toMatchObject([{ action: "update", peer: { node: "c1-n1", move: "waiting 198.51.100.11:51820" } }]);
    expect(outcome).toMatchObject({ kind: "waiting", afterMs: 90_000 });
  });
});
