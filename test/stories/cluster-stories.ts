import { equal, ok } from "node:assert/strict";
import { expectNoDeletion, expectPeerWrites } from "./costs.ts";
import { aMesh, anEntry, networksOf } from "./facts.ts";
import { expectLedger, untilReady, untilSaid, untilUnknown } from "./said.ts";
import { story } from "./story.ts";

const membership = [
  story("a cluster is added to a mesh", async (stage) => {
    await stage.begin(["a", "b"]);
    await stage.applyMesh(aMesh(["a", "b", "c"]));
    await stage.synced();
    await expectPeerWrites(stage, 8);
    await expectNoDeletion(stage);
  }),

  story("a cluster is removed from a mesh: it is emptied, and disappears from the others", async (stage) => {
    await stage.begin();
    await stage.applyMesh(aMesh(["a", "b"]));
    await stage.synced();
    await expectPeerWrites(stage, 8);
  }),

  story("a cluster's service network is declared later", async (stage) => {
    await stage.furnish();
    const { serviceCIDR, ...networks } = networksOf("b");
    const mesh = aMesh(["a", "b"]);
    await stage.applyMesh({ ...mesh, entries: [anEntry("a"), anEntry("b", { networks })] });
    await stage.synced();
    await stage.mark();
    await stage.applyMesh({
      ...mesh,
      entries: [anEntry("a"), anEntry("b", { networks: { ...networks, serviceCIDR } })],
    });
    await stage.synced();
    await expectPeerWrites(stage, 1);
  }),

  story("two meshes reach a cluster with different credentials: one of them writes, for both", async (stage) => {
    await stage.begin();
    const other = aMesh(["a", "b"], { name: "other", entries: [anEntry("a"), anEntry("b", { secret: "other-b" })] });
    await stage.applyMesh(other);
    await stage.synced();
    await stage.settled();
    await stage.mark();
    await stage.addNode("c", 3);
    await stage.synced();
    await expectPeerWrites(stage, 2);
  }),
];

const trouble = [
  story("a cluster cannot be reached and comes back: its Peers stay in the others", async (stage) => {
    const mesh = await stage.begin();
    await stage.takeAway("c");
    await untilUnknown(stage, mesh, { cluster: "cluster-c", reason: "Unreachable", person: false });
    await stage.addNode("a", 3);
    await stage.eventually(() => stage.holds({ clusters: ["a", "b"] }));
    await stage.bringBack("c");
    await stage.synced();
    await expectPeerWrites(stage, 2);
    await expectNoDeletion(stage);
  }),

  story("a network is revoked while its cluster cannot be reached: the others give it up", async (stage) => {
    const mesh = await stage.begin();
    await stage.takeAway("c");
    await untilUnknown(stage, mesh, { cluster: "cluster-c", reason: "Unreachable", person: false });
    const { serviceCIDR: _, ...networks } = networksOf("c");
    await stage.applyMesh({ ...mesh, entries: [anEntry("a"), anEntry("b"), anEntry("c", { networks })] });
    await stage.eventually(() => stage.holds({ clusters: ["a", "b"] }));
    await stage.bringBack("c");
    await stage.synced();
    await expectPeerWrites(stage, 2);
  }),

  story("a cluster leaves a mesh while it cannot be reached: the ledger has it until it is emptied", async (stage) => {
    const mesh = await stage.begin();
    await stage.takeAway("c");
    await untilUnknown(stage, mesh, { cluster: "cluster-c", reason: "Unreachable", person: false });
    const rest = aMesh(["a", "b"]);
    await stage.applyMesh(rest);
    await untilSaid(stage, rest, {
      Ready: { status: "True", reason: "Synced" },
      Degraded: { status: "True", reason: "PeersLeft", message: "PeersLeft: cluster-c" },
    });
    await expectLedger(stage, mesh);
    await stage.holds({ clusters: ["a", "b"] });
    await stage.bringBack("c");
    await stage.synced();
    await expectPeerWrites(stage, 8);
  }),

  story(
    "a cluster loses Kilo's type and gets it back",
    async (stage) => {
      const mesh = await stage.begin();
      await stage.deletePeerType("b");
      await untilUnknown(stage, mesh, { cluster: "cluster-b", reason: "PeerCRDMissing", person: true });
      await stage.holds({ clusters: ["a", "c"] });
      await stage.createPeerType("b");
      await stage.synced();
      const { peerWrites } = await stage.costs();
      equal(peerWrites.filter((text) => !/ 4\d\d$/.test(text)).length, 4);
    },
    // Its Peers go before the type does. In between the operator may try to write them again: 403, 404 or 405.
    { refused: ["b create peers"] },
  ),

  story(
    "a cluster refuses a write, then allows it: the others do not wait for it",
    async (stage) => {
      const mesh = await stage.begin();
      const allow = await stage.refusePeers("b", "create");
      await stage.addNode("a", 3);
      await untilReady(stage, mesh, { reason: "WritesFailed", message: "cluster-b: create" });
      await stage.holds({ clusters: ["a", "c"] });
      await allow();
      await stage.synced();
      await stage.settled();
      const { peerWrites } = await stage.costs();
      ok(peerWrites.some((text) => text.startsWith("b create") && text.endsWith("403")));
    },
    { refused: ["b create peers"] },
  ),

  story(
    "a cluster refuses a deletion, then allows it",
    async (stage) => {
      const mesh = await stage.begin();
      const allow = await stage.refusePeers("b", "delete");
      await stage.deleteNode("cluster-a-2");
      await untilReady(stage, mesh, { reason: "WritesFailed", message: "cluster-b: delete" });
      await stage.holds({ clusters: ["a", "c"] });
      await allow();
      await stage.synced();
    },
    { refused: ["b delete peers"] },
  ),
];

export const clusterStories = [...membership, ...trouble];
