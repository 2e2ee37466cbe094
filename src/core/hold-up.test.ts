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
import { diffPeers } from "./diff.ts";
import type { DrainRow } from "./drain.ts";
import { heldUp } from "./hold-up.ts";
import { clusterName, meshId } from "./ids.ts";
import type { Mesh } from "./mesh.ts";
import { permitted } from "./permitted.ts";
import type { TargetReport } from "./status.ts";
import type { ClusterView } from "./world.ts";

const deleted = aMesh(2);
const other: Mesh = { ...deleted, id: meshId("other", "other"), namespace: "other", name: "other" };
const row: DrainRow = { cluster: clusterName("c2"), reach: "local", connection: { state: "connected", id: conn(2) } };
const views = [aView([aNode(1, 0)]), aView([aNode(2, 0)])];
const peers = known(planOf(aWorld({ meshes: [deleted], views }), 2).peers.map((peer) => heldAs(peer)));

/** What keeps the second cluster from being emptied, after a run that wrote what it may. */
function afterRun(two: Partial<ClusterView>, report: Partial<TargetReport> = {}) {
  const meshes = [connected(other)];
  const world = aWorld({
    views: [aView([aNode(1, 0)]), aView([aNode(2, 0)], { peers, ...two })],
    overrides: { meshes },
  });
  const plan = planOf(world, 2);
  const writes = permitted(world, plan, diffPeers(plan)).map(({ action }) => action);
  const full: TargetReport = { spec: world.spec, plan, refusals: [], pending: 0, ...report };
  return { writes, why: heldUp({ world, reports: new Map([[conn(2), full]]) }, deleted.id, row) };
}

describe("a cluster that holds Peers of a deleted mesh which another one wants", () => {
  it("is on its way while they can be given to that one", () => {
    expect(afterRun({})).toEqual({ writes: ["update"], why: undefined });
  });

  it("is held up while its nodes are unknown: then nothing is given to anybody", () => {
    expect(afterRun({ nodes: unknown })).toEqual({ writes: [], why: "its nodes are unknown, Unreachable" });
  });

  it("is on its way again as soon as something is to be planned or written", () => {
    expect(afterRun({ nodes: unknown }, { spec: {} }).why).toBeUndefined();
    expect(afterRun({ nodes: unknown }, { pending: 1 }).why).toBeUndefined();
  });
});
