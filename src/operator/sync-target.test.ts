import { describe, expect, it } from "vitest";
import {
  aMesh,
  aNode,
  aView,
  aWorld,
  conn,
  connected,
  heldAs,
  known,
  planOf,
  unknown,
} from "../../test/support/build.ts";
import type { PeerChange } from "../core/diff.ts";
import { Recall } from "../core/recall.ts";
import type { TargetReport } from "../core/status.ts";
import type { World } from "../core/world.ts";
import { syncTarget } from "./sync-target.ts";

const mesh = aMesh(2);
const nodes = [aNode(1, 0), aNode(1, 1)];

async function sync(world: World) {
  const written: PeerChange[] = [];
  const reports: TargetReport[] = [];
  const course: string[] = [];
  const outcome = await syncTarget(conn(2), {
    recall: new Recall(),
    announce: (_, { pending }) => void course.push(`${pending} pending`),
    observe: () => world,
    apply: async (_, changes) => {
      course.push(`${changes.length} written`);
      written.push(...changes);
      return [];
    },
    record: (_, report) => void reports.push(report),
    wake: () => undefined,
    resolve: () => undefined,
    proveGhosts: () => undefined,
    prove: () => undefined,
  });
  const actions = written.map(({ action }) => action);
  return { result: { outcome, written: actions, pending: reports[0]?.pending }, course };
}

describe("a target", () => {
  it("gets what it lacks", async () => {
    const world = aWorld({ meshes: [mesh], views: [aView(nodes), aView([aNode(2, 0)])] });
    expect((await sync(world)).result).toEqual({
      outcome: { kind: "done" },
      written: ["create", "create"],
      pending: 0,
    });
  });

  it("is not taken for settled while it is written to", async () => {
    const world = aWorld({ meshes: [mesh], views: [aView(nodes), aView([aNode(2, 0)])] });
    expect((await sync(world)).course).toEqual(["2 pending", "2 written"]);
  });

  it("that the ledger does not name yet waits for that, and does not ask again and again meanwhile", async () => {
    const views = [aView(nodes), aView([aNode(2, 0)])];
    const world = aWorld({ views, overrides: { meshes: [{ ...connected(mesh), ledger: new Set() }] } });
    expect((await sync(world)).result).toEqual({ outcome: { kind: "done" }, written: [], pending: 2 });
  });

  it("whose nodes are unknown is left as it is", async () => {
    const bare = aWorld({ meshes: [mesh], views: [aView(nodes), aView([aNode(2, 0)])] });
    const [first] = planOf(bare, 2).peers.map((peer) => heldAs(peer, { allowedIps: ["10.1.0.0/24"] }));
    if (!first) throw new Error("a plan without Peers");
    const world = aWorld({
      meshes: [mesh],
      views: [aView(nodes), aView([], { nodes: unknown, peers: known([first]) })],
    });
    expect((await sync(world)).result).toEqual({ outcome: { kind: "done" }, written: [], pending: 0 });
  });
});
