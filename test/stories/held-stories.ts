import { equal } from "node:assert/strict";
import { nodes } from "../../src/api/kilo-node.ts";
import { peers } from "../../src/api/kilo-peer.ts";
import { expectPeerWrites } from "./costs.ts";
import { aKey, anEntry } from "./facts.ts";
import { untilReady, untilSaid } from "./said.ts";
import { story, withoutNodeRights } from "./story.ts";
import { takeOver } from "./takeover-stories.ts";

/** Something stands in the way, and the status says what. */
export const heldStories = [
  story("somebody writes a Peer with a key of ours: ours stays as it is, and the status says so", async (stage) => {
    const mesh = await stage.begin();
    const spec = { publicKey: aKey("a cluster-a-2"), allowedIPs: ["10.250.0.1/32"] };
    const theirs = await stage.admin("b").create(peers, { metadata: { name: "theirs" }, spec });
    stage.assume({ foreign: { b: ["theirs"] } });
    const taken = { reason: "KeyTaken", message: "cluster-b: my-mesh--cluster-a--cluster-a-2" };
    await untilSaid(stage, mesh, { Ready: { status: "False", ...taken }, Degraded: { status: "True", ...taken } });
    await stage.heard();
    await stage.holds();
    await expectPeerWrites(stage, 0);
    equal((await stage.peer("b", "theirs"))?.metadata.resourceVersion, theirs.metadata.resourceVersion);
    await stage.admin("b").delete(peers, { name: "theirs" });
    stage.assume({ foreign: {} });
    await stage.synced();
  }),

  story(
    "the Go operator's Peer has a name that does not resolve: the status says so",
    async (stage) => {
      const mesh = await takeOver(stage, "variant");
      const unresolved = { reason: "EndpointUnresolved", message: "c2: takeover--c1--c1-n1" };
      await untilSaid(stage, mesh, {
        Ready: { status: "False", ...unresolved },
        Degraded: { status: "True", ...unresolved },
      });
      const body = { metadata: { annotations: { "kilo.squat.ai/clustermesh-endpoint": null } } };
      await stage.admin("a").patch(nodes, { name: "c1-n1" }, { body });
      const moved = stage.facts.nodes.map((node) =>
        node.name === "c1-n1" ? { ...node, endpoint: node.kiloEndpoint } : node,
      );
      stage.assume({ nodes: moved });
    },
    withoutNodeRights,
  ),

  story(
    "a write that is refused again and again is not contested",
    async (stage) => {
      const mesh = await stage.begin();
      const allow = await stage.refusePeers("b", "create");
      await stage.addNode("a", 3);
      await untilReady(stage, mesh, { reason: "WritesFailed", message: "forbidden" });
      await stage.pass(120);
      const { message } = await stage.ready(mesh);
      equal(message.includes("Contested"), false, message);
      await allow();
      await stage.synced();
    },
    { refused: ["b create peers"] },
  ),

  story("one cluster is listed twice: it is written once", async (stage) => {
    const { entries, ...mesh } = await stage.begin(["a", "b"]);
    const networks = { podCIDRs: ["10.77.0.0/16"], wireguardCIDR: "10.200.77.0/24" };
    const again = anEntry("b", { name: "again", secret: "again", networks });
    await stage.applyMesh({ ...mesh, entries: [...entries, again] });
    await stage.synced();
    await expectPeerWrites(stage, 0);
  }),
];
