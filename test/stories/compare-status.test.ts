import { describe, expect, it } from "vitest";
import type { ClusterMeshObject } from "../../src/api/cluster-mesh.ts";
import type { ClusterMeshStatus } from "../../src/api/schema.ts";
import { assertTrueStatus } from "./compare-status.ts";
import { expectedStatus } from "./expected-status.ts";
import { aMesh, aNode, anEntry, type Facts, type MeshFacts, networksOf, noFacts } from "./facts.ts";

const mesh = aMesh(["a", "b"]);
const facts: Facts = {
  ...noFacts,
  meshes: [mesh],
  nodes: [aNode("a", 1), aNode("b", 1), aNode("b", 2, { podCIDR: "10.77.0.0/24" })],
};
const skipped = "NodesSkipped: cluster-b, cluster-b-2 (NodePodCIDROutOfRange)";

function told(one: MeshFacts, world: Facts): ClusterMeshStatus {
  const { conditions, ...rest } = expectedStatus(world, one, 7);
  const Degraded = { status: "True", reason: "NodesSkipped", message: skipped, observedGeneration: 7 };
  const all = Object.entries({ ...conditions, Degraded });
  return {
    ...rest,
    conditions: all.map(([type, said]) => ({ type, ...said, lastTransitionTime: "2026-01-01T00:00:00Z" })),
  } as ClusterMeshStatus;
}

const check = (status: ClusterMeshStatus): void =>
  assertTrueStatus(facts, mesh, { metadata: { name: mesh.name, generation: 7 }, status } as ClusterMeshObject);

const right = told(mesh, facts);
const [first, ...others] = right.clusters ?? [];
const withCluster = (change: object): object => ({ clusters: [{ ...first, ...change }, ...others] });
const withCondition = (wanted: string, change: object): object => ({
  conditions: right.conditions?.map((said) => (said.type === wanted ? { ...said, ...change } : said)),
});

describe("the status that a story ends with", () => {
  it("is taken when everything in it is true", () => {
    expect(() => check(right)).not.toThrow();
    expect(right.clusters?.[1]?.skipped).toEqual([
      { reason: "NodePodCIDROutOfRange", count: 1, examples: ["cluster-b-2"] },
    ]);
  });

  it.each<[string, object]>([
    ["generation", { observedGeneration: 6 }],
    ["summary", { summary: { ...right.summary, peers: 3 } }],
    ["nodes of a cluster", withCluster({ nodes: 2 })],
    ["Peers of a cluster", withCluster({ registeredPeers: 0 })],
    ["links that are up", withCluster({ links: { up: 1, expected: 1 } })],
    ["skipped nodes", withCluster({ skipped: [{ reason: "WGIPInvalid", count: 1 }] })],
    ["ledger with a cluster too few", { ledger: right.ledger?.slice(1) }],
    ["ledger with one too many", { ledger: [...(right.ledger ?? []), { cluster: "cluster-c" }] }],
    ["Accepted", withCondition("Accepted", { status: "False" })],
    ["Accepted of an earlier generation", withCondition("Accepted", { observedGeneration: 6 })],
    ["Ready", withCondition("Ready", { message: "3 clusters, 2 nodes peered" })],
    ["NetworksOverlap", withCondition("NetworksOverlap", { status: "True", reason: "CIDROverlap" })],
    ["WithdrawalHeld", withCondition("WithdrawalHeld", { status: "True" })],
    ["missing WithdrawalHeld", { conditions: right.conditions?.filter(({ type }) => type !== "WithdrawalHeld") }],
    ["Degraded that names nothing", withCondition("Degraded", { status: "False", reason: "AsDeclared", message: "" })],
    ["Degraded of an earlier generation", withCondition("Degraded", { observedGeneration: 6 })],
  ])("is refused for a wrong %s", (_, change) => {
    expect(() => check({ ...right, ...change } as ClusterMeshStatus)).toThrow();
  });

  it("names the networks that another mesh of a shared cluster declares for a different one", () => {
    const networks = { ...networksOf("c"), podCIDRs: ["10.2.0.0/16"] };
    const tenant = aMesh(["a"], { name: "tenant", entries: [anEntry("a"), anEntry("c", { networks })] });
    const { NetworksOverlap } = expectedStatus({ ...facts, meshes: [mesh, tenant] }, mesh, 1).conditions;
    expect(NetworksOverlap).toMatchObject({
      status: "True",
      message: "10.2.0.0/16 of cluster-b overlaps 10.2.0.0/16 of cluster-c of kilo-system/tenant",
    });
  });
});
