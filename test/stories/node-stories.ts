import { equal, ok } from "node:assert/strict";
import { expectNoDeletion, expectPeerWrites } from "./costs.ts";
import { suffixedName } from "./expected-peers.ts";
import { aFlatEntry, aKey, aMesh, type Letter, letters, nodeNameOf } from "./facts.ts";
import { untilSkipped } from "./said.ts";
import { story, unhurried } from "./story.ts";

const peerOf = (letter: Letter, index: number): string => `my-mesh--cluster-${letter}--${nodeNameOf(letter, index)}`;

const joinsAndLeaves = [
  story("a node joins: one Peer is written in each other cluster", async (stage) => {
    await stage.begin();
    await stage.addNode("a", 3);
    await stage.synced();
    const { peerWrites } = await expectPeerWrites(stage, 2);
    ok(peerWrites.every((text) => text.includes(" create ")));
  }),

  story(
    "a node leaves: its Peers stay for the grace and go",
    async (stage) => {
      await stage.begin();
      const before = stage.facts;
      await stage.deleteNode("cluster-a-2");
      await stage.heard();
      await stage.holds({ facts: before });
      await stage.synced();
      await expectPeerWrites(stage, 2);
    },
    unhurried,
  ),

  story("the node that carries the service network leaves: another takes it over first", async (stage) => {
    await stage.begin();
    await stage.deleteNode("cluster-a-1");
    await stage.synced();
    const { peerWrites } = await expectPeerWrites(stage, 4);
    for (const letter of ["b", "c"]) {
      const own = peerWrites.filter((text) => text.startsWith(letter)).map((text) => text.split(" ")[1]);
      equal(own.join(), "update,delete");
    }
  }),

  story(
    "the node that carries the service network falls silent: another that is heard takes it over",
    async (stage) => {
      await stage.begin();
      // Kilo has to be seen on every node before its silence says anything.
      await stage.pass(60);
      stage.hushNode("cluster-a-1");
      stage.assume({ carriers: { a: "cluster-a-2" } });
      await stage.synced();
      await expectPeerWrites(stage, 4);
      await expectNoDeletion(stage);
    },
  ),

  story("a node registers again within the grace: nobody loses a session", async (stage) => {
    await stage.begin();
    const uid = (await stage.peer("b", peerOf("a", 1)))?.metadata.uid;
    await stage.deleteNode("cluster-a-1");
    await stage.addNode("a", 1);
    await stage.heard();
    await stage.pass(45);
    await stage.synced();
    await expectPeerWrites(stage, 0);
    equal((await stage.peer("b", peerOf("a", 1)))?.metadata.uid, uid);
  }),

  story("a node loses Kilo's annotations and gets them back: its Peers stay", async (stage) => {
    const mesh = await stage.begin();
    await stage.stripNode("cluster-a-1");
    await untilSkipped(stage, mesh, { cluster: "cluster-a", node: "cluster-a-1", reason: "NodeNoWireguardIP" });
    await stage.addNode("a", 3);
    await stage.eventually(() => stage.holds());
    await stage.heard();
    await stage.holds();
    await stage.dressNode("cluster-a-1");
    await stage.synced();
    await expectPeerWrites(stage, 2);
  }),

  story("a node loses Kilo's annotations for good: its Peers go after three minutes", async (stage) => {
    const mesh = await stage.begin();
    await stage.stripNode("cluster-a-2");
    await untilSkipped(stage, mesh, { cluster: "cluster-a", node: "cluster-a-2", reason: "NodeNoWireguardIP" });
    await stage.pass(120);
    await stage.holds();
    const nodes = stage.facts.nodes.map((node) =>
      node.name === "cluster-a-2" ? { ...node, bare: true as const } : node,
    );
    stage.assume({ nodes });
    await stage.synced();
    await expectPeerWrites(stage, 2);
  }),
];

const changes = [
  story("a node gets a new key: its Peers keep their names", async (stage) => {
    await stage.begin();
    const uid = (await stage.peer("b", peerOf("a", 2)))?.metadata.uid;
    await stage.changeNode("cluster-a-2", { key: aKey("another") });
    await stage.synced();
    await expectPeerWrites(stage, 2);
    equal((await stage.peer("b", peerOf("a", 2)))?.metadata.uid, uid);
  }),

  story("a node moves to another endpoint", async (stage) => {
    await stage.begin();
    await stage.changeNode("cluster-a-2", { endpoint: "198.18.9.9:51999" });
    await stage.synced();
    await expectPeerWrites(stage, 2);
  }),

  story("a node loses its endpoint: it is expected to come to the others", async (stage) => {
    await stage.begin();
    await stage.changeNode("cluster-a-2", { endpoint: "" });
    await stage.synced();
    await expectPeerWrites(stage, 2);
  }),

  story("a node gets another WireGuard address", async (stage) => {
    await stage.begin();
    await stage.changeNode("cluster-a-2", { wireguardIp: "10.200.1.77" });
    await stage.synced();
    await expectPeerWrites(stage, 2);
  }),

  story("a node gets another external address: its endpoint follows", async (stage) => {
    await stage.begin();
    const at = (externalIp: string) => ({ externalIp, endpoint: `${externalIp}:51820` });
    const { name } = await stage.addNode("a", 3, at("198.18.7.3"));
    await stage.synced();
    await stage.settled();
    await stage.mark();
    await stage.changeNode(name, at("198.18.8.3"));
    await stage.synced();
    await expectPeerWrites(stage, 2);
    await expectNoDeletion(stage);
  }),

  story("a node gets another internal address: in the flat form its route follows", async (stage) => {
    await stage.furnish();
    await stage.applyMesh(aMesh(letters, { entries: letters.map(aFlatEntry) }));
    await stage.synced();
    await stage.settled();
    await stage.mark();
    await stage.changeNode("cluster-a-2", { internalIp: "172.20.1.77" });
    await stage.synced();
    await expectPeerWrites(stage, 2);
    await expectNoDeletion(stage);
  }),

  story("a node gets another internal address: where no network declares it, nothing is written", async (stage) => {
    await stage.begin();
    await stage.changeNode("cluster-a-2", { internalIp: "172.20.1.77" });
    await stage.heard();
    await stage.synced();
    await expectPeerWrites(stage, 0);
  }),

  story("a node registers again with another pod network", async (stage) => {
    await stage.begin();
    await stage.deleteNode("cluster-a-2");
    await stage.addNode("a", 2, { podCIDR: "10.1.77.0/24" });
    await stage.synced();
    await expectPeerWrites(stage, 2);
    await expectNoDeletion(stage);
  }),

  story("two nodes exchange their WireGuard addresses: each keeps its Peer", async (stage) => {
    await stage.begin();
    await stage.changeNode("cluster-a-1", { wireguardIp: "10.200.1.2" });
    await stage.changeNode("cluster-a-2", { wireguardIp: "10.200.1.1" });
    await stage.synced();
    await expectNoDeletion(stage);
  }),

  story("two nodes exchange their keys while nobody looks", async (stage) => {
    await stage.begin();
    const [first, second] = [aKey("a cluster-a-1"), aKey("a cluster-a-2")];
    await stage.stopOperator();
    await stage.changeNode("cluster-a-1", { key: second });
    await stage.changeNode("cluster-a-2", { key: first });
    await stage.startOperator();
    // A Peer is its key: each stays where it is and gets the routes of its new node.
    stage.assume({
      names: { [first]: peerOf("a", 1), [second]: peerOf("a", 2) },
      carriers: { a: "cluster-a-2" },
    });
    await stage.synced();
    await expectNoDeletion(stage);
  }),

  story("two nodes exchange their keys one after the other", async (stage) => {
    await stage.begin();
    const [first, second] = [aKey("a cluster-a-1"), aKey("a cluster-a-2")];
    await stage.changeNode("cluster-a-1", { key: second });
    await stage.heard();
    await stage.settled();
    await stage.changeNode("cluster-a-2", { key: first });
    stage.assume({ names: { [second]: peerOf("a", 2), [first]: suffixedName(peerOf("a", 2), first) } });
    await stage.synced();
  }),
];

export const nodeStories = [...joinsAndLeaves, ...changes];
