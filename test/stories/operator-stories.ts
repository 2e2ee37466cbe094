import { deepEqual } from "node:assert/strict";
import { expectPeerWrites, untilConnected } from "./costs.ts";
import { aMesh } from "./facts.ts";
import { untilSaid, untilUnknown } from "./said.ts";
import { story, unhurried } from "./story.ts";

export const operatorStories = [
  story("the operator starts again: no Peer, no status and no definition is written", async (stage) => {
    await stage.begin();
    await stage.stopOperator();
    await stage.mark();
    await stage.startOperator();
    await untilConnected(stage);
    await stage.synced();
    await stage.settled();
    const { peerWrites, otherWrites } = await stage.costs();
    deepEqual({ peerWrites, otherWrites }, { peerWrites: [], otherWrites: [] });
    await stage.addNode("a", 3);
    await stage.synced();
    await expectPeerWrites(stage, 2);
  }),

  story("a node joins while no operator runs", async (stage) => {
    await stage.begin();
    await stage.stopOperator();
    await stage.addNode("a", 3);
    await stage.startOperator();
    await stage.synced();
    await expectPeerWrites(stage, 2);
  }),

  story("the operator starts beside a cluster that does not answer: the others are served", async (stage) => {
    const mesh = await stage.begin();
    await stage.stopOperator();
    await stage.takeAway("c");
    await stage.startOperator();
    await stage.addNode("a", 3);
    await stage.eventually(() => stage.holds({ clusters: ["a", "b"] }));
    await untilUnknown(stage, mesh, { cluster: "cluster-c", reason: "Unreachable", person: false });
    await stage.bringBack("c");
    await stage.synced();
    await expectPeerWrites(stage, 2);
  }),

  story(
    "a node leaves while no operator runs: two lists a minute apart prove it",
    async (stage) => {
      const mesh = await stage.begin();
      const before = stage.facts;
      await stage.stopOperator();
      await stage.mark();
      await stage.deleteNode("cluster-a-2");
      await stage.startOperator();
      await untilConnected(stage);
      const message = "cluster-b: my-mesh--cluster-a--cluster-a-2; cluster-c: my-mesh--cluster-a--cluster-a-2";
      const held = { reason: "WithdrawalHeld", message };
      await untilSaid(stage, mesh, {
        Accepted: { status: "True", reason: "Valid" },
        Ready: { status: "False", ...held },
        Degraded: { status: "False", reason: "AsDeclared" },
        WithdrawalHeld: { status: "True", ...held },
      });
      await stage.holds({ facts: before });
      await stage.synced();
      await expectPeerWrites(stage, 2);
    },
    unhurried,
  ),

  story("two operators write into one cluster: neither touches the other's Peers", async (stage) => {
    await stage.furnish();
    await stage.startOperator("c");
    await stage.applyMesh(aMesh(["a", "b"]));
    await stage.applyMesh(aMesh(["c", "b"], { home: "c" }));
    await stage.synced();
    await stage.settled();
    await stage.mark();
    await stage.addNode("b", 3);
    await stage.synced();
    await stage.deleteNode("cluster-c-2");
    await stage.synced();
    await expectPeerWrites(stage, 3);
  }),
];
