import { equal, ok } from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { clusterMeshes } from "../../src/api/cluster-mesh.ts";
import { isKubeError } from "../../src/kube/errors.ts";
import { events } from "../../src/kube/event-object.ts";
import { expectPeerWrites, untilConnected } from "./costs.ts";
import { aMesh, anEntry, letters, type MeshFacts, nodeNameOf } from "./facts.ts";
import { untilUnknown } from "./said.ts";
import type { Stage } from "./stage.ts";
import { story } from "./story.ts";

export async function untilGone(stage: Stage, { home, namespace, name }: MeshFacts): Promise<void> {
  await stage.eventually(async () => {
    const found = await stage.admin(home).get(clusterMeshes, { namespace, name }).catch(isGone);
    if (found !== "gone") throw new Error(`${name} is still there, with ${found.metadata.finalizers}`);
  });
}

function isGone(error: unknown): "gone" {
  if (!isKubeError(error, "not-found")) throw error;
  return "gone";
}

/** The finalizer is to be gone in less than this, whatever was deleted before. */
const mostSeconds = 10;

/** Deletes the mesh and measures, on a clock like everybody's, how long its finalizer keeps it. */
async function deleteTimed(stage: Stage, mesh: MeshFacts): Promise<void> {
  await stage.deleteMesh(mesh);
  await stage.timed("finalizer gone", mostSeconds, () => untilGone(stage, mesh));
  await stage.stopOperator();
  await stage.startOperator();
}

/** The names of the Peers of both nodes of each source. */
export const peersOf = (mesh: string, ...sources: readonly ("a" | "b" | "c")[]): string[] =>
  sources.flatMap((letter) => [1, 2].map((index) => `${mesh}--cluster-${letter}--${nodeNameOf(letter, index)}`));

export const teardownStories = [
  story("a mesh is deleted: its Peers go first, then the mesh", async (stage) => {
    const mesh = await stage.begin();
    ok((await stage.mesh(mesh)).metadata.finalizers?.includes("kilo-clustermesh.io/cleanup"));
    await stage.deleteMesh(mesh);
    await untilGone(stage, mesh);
    await stage.holds();
    await expectPeerWrites(stage, 12);
  }),

  story("a mesh is deleted while no operator runs: the next one cleans up", async (stage) => {
    const mesh = await stage.begin();
    await stage.stopOperator();
    await stage.deleteMesh(mesh);
    await stage.startOperator();
    await untilGone(stage, mesh);
    await stage.holds();
    await expectPeerWrites(stage, 12);
  }),

  story("a mesh is deleted long before an operator runs: that one cleans up all the same", async (stage) => {
    await stage.furnish();
    const mesh = aMesh(letters, { deletionTimeout: "1s" });
    await stage.applyMesh(mesh);
    await stage.synced();
    await stage.stopOperator();
    await stage.deleteMesh(mesh);
    await delay(1100);
    await stage.mark();
    await stage.startOperator();
    await untilGone(stage, mesh);
    await stage.holds();
    await expectPeerWrites(stage, 12);
  }),

  story("a cluster is removed from a mesh while no operator runs: the next one empties it", async (stage) => {
    await stage.begin();
    await stage.stopOperator();
    await stage.applyMesh(aMesh(["a", "b"]));
    await stage.startOperator();
    await stage.synced();
    await expectPeerWrites(stage, 8);
  }),

  story("a mesh is deleted after its Secrets: only what nobody reaches is left", async (stage) => {
    const mesh = await stage.begin();
    const other = aMesh(["a", "b"], { name: "other", entries: [anEntry("a"), anEntry("b", { secret: "other-b" })] });
    await stage.applyMesh(other);
    await stage.synced();
    await stage.settled();
    for (const { secret } of mesh.entries) if (secret) await stage.deleteSecret(mesh, secret);
    await stage.stopOperator();
    await stage.startOperator("a", 1);
    await deleteTimed(stage, mesh);
    // A Peer keeps its name for as long as its key is wanted.
    const names = stage.facts.nodes.map(({ cluster, name, key }) => [key, `my-mesh--cluster-${cluster}--${name}`]);
    stage.assume({ names: Object.fromEntries(names), foreign: { c: peersOf("my-mesh", "a", "b") } });
    await stage.synced();
  }),

  story("a mesh is deleted right after its Secrets: what is still connected is emptied", async (stage) => {
    const mesh = await stage.begin();
    await stage.stopOperator();
    await stage.mark();
    await stage.startOperator("a", 1);
    await untilConnected(stage);
    for (const { secret } of mesh.entries) if (secret) await stage.deleteSecret(mesh, secret);
    await deleteTimed(stage, mesh);
    await stage.synced();
    await expectPeerWrites(stage, 12);
  }),

  story("a mesh is deleted while a cluster is away: it is emptied when it comes back", async (stage) => {
    await deleteWhileAway(stage);
    await stage.bringBack("c");
    await stage.synced();
  }),

  story("a mesh is deleted while a cluster is away, and another mesh cleans up later", async (stage) => {
    await deleteWhileAway(stage);
    // Who was there then knows nothing of the cluster any more.
    await stage.stopOperator();
    await stage.startOperator();
    await stage.bringBack("c");
    // A Peer keeps its name for as long as its key is wanted.
    const left = stage.facts.nodes.filter(({ cluster }) => cluster === "a");
    const names = left.map(({ key, name }) => [`c ${key}`, `my-mesh--cluster-a--${name}`]);
    stage.assume({ names: Object.fromEntries(names) });
    await stage.applyMesh(aMesh(["a", "c"], { name: "other" }));
    await stage.synced();
  }),

  story(
    "a mesh is deleted while a cluster refuses to lose its Peers: it says so, and waits only as long as it may",
    async (stage) => {
      await stage.furnish();
      const mesh = aMesh(letters, { deletionTimeout: "8s" });
      await stage.applyMesh(mesh);
      await stage.synced();
      const { metadata } = await stage.mesh(mesh);
      const allow = await stage.refusePeers("c", "delete");
      await stage.deleteMesh(mesh);
      const message = "cluster-c: delete my-mesh--cluster-a--cluster-a-1: forbidden, and 3 more";
      await stage.eventually(async () => {
        const { status } = await stage.mesh(mesh);
        const said = status?.conditions?.filter(({ reason }) => reason === "DeletionHeld") ?? [];
        equal(said.map(({ type }) => type).join(), "Degraded,Ready", JSON.stringify(status?.conditions));
        ok(
          said.every((condition) => condition.message.startsWith(message)),
          JSON.stringify(said),
        );
      });
      await untilGone(stage, mesh);
      await stage.holds({ clusters: ["a", "b"] });
      await stage.eventually(async () => {
        const { items } = await stage.admin("a").list(events, { namespace: mesh.namespace });
        const own = items.filter(({ regarding }) => regarding.uid === metadata.uid);
        const notes = new Map(own.map(({ reason, note }) => [reason, note]));
        ok(notes.get("DeletionHeld")?.startsWith(message), JSON.stringify(own));
        ok(notes.get("PeersLeft")?.startsWith("Peers may be left in cluster-c (delete "), JSON.stringify(own));
      });
      // Nobody asks for the cluster any more, and it is emptied all the same.
      await allow();
      await stage.synced();
    },
    { refused: ["c delete peers"] },
  ),

  story("a mesh is force-deleted: what another mesh wants of it stays", async (stage) => {
    await stage.begin();
    const other = aMesh(["b", "c"], { name: "other" });
    await stage.applyMesh(other);
    await stage.synced();
    await stage.settled();
    await stage.mark();
    await stage.forceDeleteMesh(other);
    await stage.synced();
    await expectPeerWrites(stage, 4);
  }),

  story("a mesh is force-deleted while no operator runs: its Peers go where another mesh leads", async (stage) => {
    await stage.begin(["a", "b"]);
    const other = aMesh(["b", "c"], { name: "other" });
    await stage.applyMesh(other);
    await stage.synced();
    await stage.stopOperator();
    await stage.forceDeleteMesh(other);
    await stage.mark();
    await stage.startOperator();
    stage.assume({ foreign: { c: peersOf("other", "b") } });
    await stage.synced();
    await expectPeerWrites(stage, 2);
    const left = stage.facts.nodes.filter(({ cluster }) => cluster === "b");
    const names = left.map(({ key, name }) => [`c ${key}`, `other--cluster-b--${name}`]);
    stage.assume({ foreign: {}, names: Object.fromEntries(names) });
    await stage.applyMesh(aMesh(letters));
    await stage.synced();
    await expectPeerWrites(stage, 10);
  }),
];

/** A mesh of three clusters is gone, and one of them was away. */
async function deleteWhileAway(stage: Stage): Promise<void> {
  await stage.furnish();
  const mesh = aMesh(letters, { deletionTimeout: "2s" });
  await stage.applyMesh(mesh);
  await stage.synced();
  await stage.takeAway("c");
  await untilUnknown(stage, mesh, { cluster: "cluster-c", reason: "Unreachable", person: false });
  await stage.mark();
  await stage.deleteMesh(mesh);
  await untilGone(stage, mesh);
  await stage.holds({ clusters: ["a", "b"] });
}
