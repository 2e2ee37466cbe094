import { deepEqual } from "node:assert/strict";
import { expectPeerWrites } from "./costs.ts";
import { suffixedName } from "./expected-peers.ts";
import { aFlatEntry, aMesh, anEntry, letters, type MeshFacts, meshSpec, networksOf, otherNamespace } from "./facts.ts";
import { expectLedger, type Saying, untilSaid } from "./said.ts";
import type { Stage } from "./stage.ts";
import { story, withoutNodeRights } from "./story.ts";

/** Resolves when the mesh says why it cannot be used, and nothing of clusters that nobody looks at. */
async function untilRefused(
  stage: Stage,
  mesh: MeshFacts,
  { message, overlap }: { readonly message: string; readonly overlap: Saying },
): Promise<void> {
  await untilSaid(stage, mesh, {
    Accepted: { status: "False", reason: "Invalid", message },
    Ready: { status: "False", reason: "Invalid", message },
    Degraded: { status: "True", reason: "Invalid", message },
    WithdrawalHeld: { status: "Unknown", reason: "Invalid" },
    NetworksOverlap: overlap,
  });
  const { status } = await stage.mesh(mesh);
  deepEqual([status?.clusters, status?.summary], [undefined, undefined]);
  await expectLedger(stage, mesh);
}

const lives = [
  story("a mesh is created", async (stage) => {
    await stage.furnish();
    await stage.mark();
    const mesh = aMesh(letters);
    await stage.applyMesh(mesh);
    await stage.synced();
    await expectPeerWrites(stage, 12);
    const peer = await stage.peer("b", "my-mesh--cluster-a--cluster-a-1");
    deepEqual(peer?.spec.allowedIPs, ["10.1.1.0/24", "10.101.0.0/16", "10.200.1.1/32"]);
  }),

  story("a mesh becomes invalid and is corrected: its Peers stay meanwhile", async (stage) => {
    const mesh = await stage.begin();
    const { clusters } = meshSpec(mesh) as { clusters: object[] };
    const broken = clusters.map((entry, index) => (index === 1 ? { ...entry, serviceCIDR: "nonsense" } : entry));
    await stage.writeSpec(mesh, { clusters: broken });
    const disjoint = { status: "False", reason: "NoOverlap" } as const;
    await untilRefused(stage, mesh, { message: "spec.clusters[1].serviceCIDR", overlap: disjoint });
    await stage.deleteNode("cluster-c-2");
    await stage.addNode("c", 2);
    await stage.heard();
    await stage.holds();
    await stage.applyMesh(mesh);
    await stage.synced();
    await expectPeerWrites(stage, 0);
  }),

  story("the networks of a mesh overlap and are corrected: its Peers stay meanwhile", async (stage) => {
    const mesh = await stage.begin();
    const entries = [
      anEntry("a"),
      anEntry("b"),
      anEntry("c", { networks: { ...networksOf("c"), podCIDRs: ["10.2.0.0/15"] } }),
    ];
    await stage.writeSpec(mesh, meshSpec({ ...mesh, entries }));
    const message = "10.2.0.0/16 of cluster-b overlaps 10.2.0.0/15 of cluster-c";
    const overlap = { status: "True", reason: "CIDROverlap", message } as const;
    await untilRefused(stage, mesh, { message, overlap });
    await stage.heard();
    await stage.holds();
    await stage.applyMesh(mesh);
    await stage.synced();
    await expectPeerWrites(stage, 0);
  }),
];

const shapes = [
  story("a mesh without the operator's own cluster", async (stage) => {
    await stage.furnish();
    await stage.applyMesh(aMesh(["b", "c"]));
    await stage.synced();
  }),

  story("a mesh in the flat form: the nodes' own addresses are routed too", async (stage) => {
    await stage.furnish();
    await stage.applyMesh(aMesh(letters, { entries: letters.map(aFlatEntry) }));
    await stage.synced();
    await stage.settled();
    await stage.mark();
    await stage.addNode("a", 3);
    await stage.synced();
    await expectPeerWrites(stage, 2);
  }),

  story(
    "a mesh with a keepalive",
    async (stage) => {
      const { entries, ...mesh } = await stage.begin();
      const patient = entries.map((entry) => (entry.cluster === "b" ? { ...entry, persistentKeepalive: 20 } : entry));
      await stage.applyMesh({ ...mesh, entries: patient });
      await stage.synced();
      await expectPeerWrites(stage, 12);
    },
    withoutNodeRights,
  ),
];

const several = [
  story("two meshes share a hub: their clusters do not meet", async (stage) => {
    await stage.furnish();
    await stage.applyMesh(aMesh(["a", "b"], { name: "one" }));
    await stage.applyMesh(aMesh(["a", "c"], { name: "two" }));
    await stage.synced();
    await stage.settled();
    await stage.mark();
    await stage.addNode("a", 3);
    await stage.synced();
    await expectPeerWrites(stage, 2);
  }),

  story("two clusters are in two meshes: one Peer for both, and one mesh may go", async (stage) => {
    await stage.furnish();
    const two = aMesh(["a", "b"], { name: "two" });
    await stage.applyMesh(aMesh(["a", "b"], { name: "one" }));
    await stage.synced();
    await stage.applyMesh(two);
    await stage.synced();
    await stage.settled();
    await stage.mark();
    await stage.deleteMesh(two);
    await stage.synced();
    await expectPeerWrites(stage, 4);
  }),

  story("two namespaces have a mesh of one name, with clusters and nodes of one name", async (stage) => {
    await stage.begin(["a", "b"]);
    const tenant = anEntry("c", { name: "cluster-b", secret: "cluster-b-kubeconfig" });
    const { key } = await stage.addNode("c", 3, { name: "cluster-b-1" });
    stage.assume({ names: { [key]: suffixedName("my-mesh--cluster-b--cluster-b-1", key) } });
    await stage.applyMesh(aMesh(["a"], { namespace: otherNamespace, entries: [anEntry("a"), tenant] }));
    await stage.synced();
    await expectPeerWrites(stage, 5);
  }),
];

export const meshStories = [...lives, ...shapes, ...several];
