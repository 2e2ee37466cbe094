import { describe, expect, it } from "vitest";
import { readMesh } from "../../src/api/cluster-mesh.ts";
import type { NodeFacts } from "../../src/core/node.ts";
import { planTarget } from "../../src/core/plan.ts";
import { type MeshStatus, meshStatus, refusedStatus } from "../../src/core/status.ts";
import { aMesh, aMeshObject, aNode, aView, aWorld, conn, connected, heldAs, known, planOf } from "../support/build.ts";

const mesh = aMesh(2);

/** The status when both clusters hold what they should. */
function settled(one: readonly NodeFacts[]): MeshStatus {
  const lists = [one, [aNode(2, 0), aNode(2, 1)]];
  const bare = aWorld({ meshes: [mesh], views: lists.map((nodes) => aView(nodes)) });
  const views = lists.map((nodes, index) =>
    aView(nodes, { peers: known(planOf(bare, index + 1).peers.map((peer) => heldAs(peer))) }),
  );
  const world = aWorld({ meshes: [mesh], views });
  const reports = [1, 2].map((target) => {
    const plan = planTarget(world, conn(target));
    return [conn(target), { spec: world.spec, plan, refusals: [], pending: 0 }] as const;
  });
  return meshStatus({ world, connected: connected(mesh), reports: new Map(reports), ledger: [], nowMs: 0 });
}

const conditionOf = ({ conditions }: Pick<MeshStatus, "conditions">, type: string) =>
  conditions.find((one) => one.type === type);

describe("the status", () => {
  it("counts a node whose WireGuard IP is out of range as skipped, and the other as registered", () => {
    const status = settled([aNode(1, 0), aNode(1, 1, { wireguardIp: "10.99.0.1/24" })]);
    expect(status.clusters[0]).toMatchObject({
      registeredPeers: 1,
      skippedNodes: 1,
      skipped: [{ reason: "WGIPOutOfRange", count: 1, examples: ["c1-n1"] }],
    });
  });

  it("counts a cluster whose only node has no key as 0 registered and 1 skipped", () => {
    expect(settled([aNode(1, 0, { key: "" })]).clusters[0]).toMatchObject({ registeredPeers: 0, skippedNodes: 1 });
  });

  it("counts no node whose key is none as registered", () => {
    expect(settled([aNode(1, 0, { key: "short" })]).clusters[0]).toMatchObject({
      registeredPeers: 0,
      skipped: [{ reason: "NodeKeyInvalid" }],
    });
  });

  it("of two clusters with two nodes each is ready with 2 registered and 0 skipped, and no overlap", () => {
    const status = settled([aNode(1, 0), aNode(1, 1)]);
    expect(conditionOf(status, "Ready")?.status).toBe("True");
    expect(conditionOf(status, "NetworksOverlap")).toMatchObject({ status: "False", reason: "NoOverlap" });
    for (const cluster of status.clusters) expect(cluster).toMatchObject({ registeredPeers: 2, skippedNodes: 0 });
  });

  it("of a mesh whose networks overlap says so in the Go operator's condition, and is not ready", () => {
    const plain = aMeshObject(2);
    const { clusters } = plain.spec as { clusters: object[] };
    const overlapping = clusters.map((entry) => ({ ...entry, podCIDRs: ["10.1.0.0/16"] }));
    const record = readMesh({ ...plain, spec: { clusters: overlapping } });
    if (record.state === "valid") throw new Error("unreachable");
    const status = refusedStatus(1, record.problems);
    expect(conditionOf(status, "NetworksOverlap")).toMatchObject({ status: "True", reason: "CIDROverlap" });
    expect(conditionOf(status, "Ready")?.status).toBe("False");
  });
});
