import { equal } from "node:assert/strict";
import { peers } from "../../src/api/kilo-peer.ts";
import { expectPeerWrites } from "./costs.ts";
import { aKey } from "./facts.ts";
import { untilSaid } from "./said.ts";
import { story } from "./story.ts";

const ours = "my-mesh--cluster-a--cluster-a-2";

export const peerStories = [
  story("somebody edits a Peer of ours: it is put right, and their preshared key stays", async (stage) => {
    await stage.begin();
    const spec = { allowedIPs: ["10.99.0.0/16"], presharedKey: "theirs" };
    await stage.admin("b").patch(peers, { name: ours }, { body: { spec } });
    await stage.synced();
    equal((await stage.peer("b", ours))?.spec.presharedKey, "theirs");
    await expectPeerWrites(stage, 1);
  }),

  story("somebody deletes a Peer of ours: it is written again", async (stage) => {
    await stage.begin();
    await stage.admin("b").delete(peers, { name: ours });
    await stage.synced();
    await expectPeerWrites(stage, 1);
  }),

  story("somebody has a Peer with the key of a node that joins: it is left alone", async (stage) => {
    const mesh = await stage.begin();
    const spec = { publicKey: aKey("a cluster-a-3"), allowedIPs: ["10.250.0.1/32"] };
    const theirs = await stage.admin("b").create(peers, { metadata: { name: "theirs" }, spec });
    await stage.addNode("a", 3);
    const taken = { reason: "KeyTaken", message: "cluster-b: my-mesh--cluster-a--cluster-a-3" };
    await untilSaid(stage, mesh, { Ready: { status: "False", ...taken }, Degraded: { status: "True", ...taken } });
    await stage.holds({ clusters: ["a", "c"] });
    equal((await stage.peer("b", "theirs"))?.metadata.resourceVersion, theirs.metadata.resourceVersion);
    await stage.admin("b").delete(peers, { name: "theirs" });
    await stage.synced();
    await expectPeerWrites(stage, 2);
  }),
];
