import { deepEqual, equal } from "node:assert/strict";
import { nodes } from "../../src/api/kilo-node.ts";
import { expectPeerWrites } from "./costs.ts";
import { aKey, aMesh, anEntry, letters, type MeshFacts } from "./facts.ts";
import { untilSaid } from "./said.ts";
import type { Stage } from "./stage.ts";
import { story, withoutNodeRights } from "./story.ts";

const node = "cluster-a-2";
const peer = `my-mesh--cluster-a--${node}`;
const [before, now] = ["198.18.1.2:51820", "198.18.9.9:51999"];

/** A mesh with a keepalive, in which Kilo follows what it sees; one node of `b` has met the node. */
async function beginMet(stage: Stage): Promise<MeshFacts> {
  await stage.furnish();
  const entries = letters.map((letter) => anEntry(letter, { persistentKeepalive: 25 }));
  const mesh = aMesh(letters, { entries });
  await stage.applyMesh(mesh);
  await meets(stage, before);
  await stage.synced();
  await stage.settled();
  await stage.mark();
  return mesh;
}

/** What Kilo writes on a node of `b` when it has shaken hands. */
async function meets(stage: Stage, place: string): Promise<void> {
  const [IP, port] = place.split(":");
  const discovered = JSON.stringify({ [aKey(`a ${node}`)]: { IP, Port: Number(port), Zone: "" } });
  const annotations = { "kilo.squat.ai/discovered-endpoints": discovered };
  await stage.admin("b").patch(nodes, { name: "cluster-b-1" }, { body: { metadata: { annotations } } });
  stage.assume({ met: { b: [aKey(`a ${node}`)] } });
}

/** Resolves when the Peer in `b` is in this step of its move. */
async function untilStep(stage: Stage, step: "waiting" | "dropped"): Promise<void> {
  await stage.eventually(async () => {
    const { metadata, spec } = (await stage.peer("b", peer)) ?? {};
    const mark = metadata?.annotations?.["kilo-clustermesh.io/move"];
    deepEqual([mark, spec?.endpoint?.dnsOrIP.ip], [`${step} ${before}`, now.split(":")[0]]);
    equal(spec?.persistentKeepalive ?? 0, step === "dropped" ? 0 : 25);
  });
}

async function untilNoMark(stage: Stage): Promise<void> {
  await stage.eventually(async () => {
    const { metadata } = (await stage.peer("b", peer)) ?? {};
    equal(metadata?.annotations?.["kilo-clustermesh.io/move"], undefined);
  });
}

export const moveStories = [
  story(
    "a node's declared endpoint changes and the target still reports the old one: it is moved",
    async (stage) => {
      const mesh = await beginMet(stage);
      await stage.changeNode(node, { endpoint: now });
      await untilStep(stage, "waiting");
      await untilSaid(stage, mesh, {
        Ready: { status: "True", reason: "Synced" },
        Degraded: { status: "True", reason: "EndpointDiffers", message: `EndpointDiffers: cluster-a, ${node}` },
      });
      await untilStep(stage, "dropped");
      await meets(stage, now);
      await untilNoMark(stage);
      await stage.synced();
      // Three in the cluster that had met the node, one in the other.
      await expectPeerWrites(stage, 4);
    },
    withoutNodeRights,
  ),

  story(
    "a node's declared endpoint changes and the operator starts again in the middle: it is moved",
    async (stage) => {
      await beginMet(stage);
      await stage.changeNode(node, { endpoint: now });
      await untilStep(stage, "waiting");
      await stage.stopOperator();
      await stage.startOperator();
      await untilStep(stage, "dropped");
      await stage.stopOperator();
      await meets(stage, now);
      await stage.startOperator();
      await untilNoMark(stage);
      await stage.synced();
      await expectPeerWrites(stage, 4);
    },
    withoutNodeRights,
  ),

  story(
    "a node's declared endpoint changes and the target follows by itself: its keepalive stays",
    async (stage) => {
      await beginMet(stage);
      await stage.changeNode(node, { endpoint: now });
      await untilStep(stage, "waiting");
      await meets(stage, now);
      await untilNoMark(stage);
      await stage.synced();
      await expectPeerWrites(stage, 3);
    },
    withoutNodeRights,
  ),
];
