import { describe, expect, it } from "vitest";
import { aMesh, aNode, aView, aWorld, heldAs, known, planOf } from "../../test/support/build.ts";
import { diffPeers } from "./diff.ts";
import { nodeName } from "./ids.ts";
import { nextPhase } from "./order.ts";
import type { HeldPeer } from "./peer.ts";
import type { ClusterView } from "./world.ts";

const service = "10.96.0.0/12";
const mesh = aMesh(2, { serviceCIDR: service });
const nodes = [aNode(1, 0), aNode(1, 1), aNode(1, 2)];

function plan(held: readonly HeldPeer[], silent: readonly string[]) {
  const source = aView(nodes, { silent: new Set(silent.map(nodeName)) });
  return planOf(aWorld({ meshes: [mesh], views: [source, aView([aNode(2, 0)], { peers: known(held) })] }), 2);
}

const carriers = ({ peers }: ReturnType<typeof plan>): string[] =>
  peers.filter(({ routes }) => routes.some(({ text }) => text === service)).map(({ node }) => node);

const heldOf = (planned: ReturnType<typeof plan>): HeldPeer[] => planned.peers.map((peer) => heldAs(peer));

describe("the carrier of the cluster-wide networks", () => {
  const held = heldOf(plan([], []));

  it("is the first node that is heard", () => {
    expect(carriers(plan([], []))).toEqual(["c1-n0"]);
    expect(carriers(plan([], ["c1-n0"]))).toEqual(["c1-n1"]);
  });

  it("stays while it is heard, whoever else falls silent", () => {
    expect(diffPeers(plan(held, ["c1-n1", "c1-n2"]))).toEqual([]);
  });

  it("moves when it falls silent: the new one is extended before the old one shrinks", () => {
    const planned = plan(held, ["c1-n0"]);
    expect(carriers(planned)).toEqual(["c1-n1"]);
    const phase = nextPhase(diffPeers(planned));
    expect(phase).toMatchObject([{ action: "update", peer: { node: "c1-n1" } }]);
    expect(planned.notes).toMatchObject([{ reason: "NodeSilent", subject: "c1-n0" }]);
  });

  it("stays where it went when the old one is heard again", () => {
    const moved = heldOf(plan(held, ["c1-n0"]));
    expect(diffPeers(plan(moved, []))).toEqual([]);
  });

  it("stays when all are silent: then nobody is better", () => {
    expect(diffPeers(plan(held, ["c1-n0", "c1-n1", "c1-n2"]))).toEqual([]);
  });

  it("is a node that can have a Peer here, not one whose name has no answer or whose key is taken", () => {
    const named = [aNode(1, 0, { forceEndpoint: "gw.example.org:7" }), ...nodes.slice(1)];
    const taken = held.slice(1, 2).map((peer) => ({ ...peer, instance: "somebody", allowedIps: ["10.250.0.0/24"] }));
    const target = aView([aNode(2, 0)], { peers: known(taken) });
    expect(carriers(planOf(aWorld({ meshes: [mesh], views: [aView(named), target] }), 2))).toEqual(["c1-n2"]);
  });

  it("is no node that has another's key: their Peer is where the first of them is, and that name has no answer", () => {
    const named = aNode(1, 0, { forceEndpoint: "gw.example.org:7" });
    const views = [
      aView([aNode(1, 1), aNode(1, 2, { key: named.key }), named], { silent: new Set([nodeName("c1-n1")]) }),
    ];
    expect(carriers(planOf(aWorld({ meshes: [mesh], views: [...views, aView([aNode(2, 0)])] }), 2))).toEqual(["c1-n1"]);
  });
});

describe("a network of the flat form in which one node has all that there is", () => {
  const alone = aNode(1, 1, { podCidrs: ["10.1.17.0/24"] });
  const flat = aMesh(2, { allowedNetworks: ["10.1.0.0/20", "10.1.16.0/20", "10.200.1.0/24", "10.96.0.0/16"] });
  const planFlat = (source: ClusterView, held: readonly HeldPeer[]) =>
    planOf(aWorld({ meshes: [flat], views: [source, aView([aNode(2, 0)], { peers: known(held) })] }), 2);
  const held = heldOf(planFlat(aView([aNode(1, 0), alone]), []));

  it.each<[string, ClusterView]>([
    ["is without annotations", aView([aNode(1, 0), { ...alone, key: "", wireguardIp: "" }])],
    ["has left", aView([aNode(1, 0)], { departures: [{ name: alone.name, afterMs: 5000, needsList: false }] })],
    ["is not proven to be gone", aView([aNode(1, 0)], { absenceProven: false })],
  ])("costs nothing while its Peer is kept: the node %s", (_, source) => {
    expect(diffPeers(planFlat(source, held))).toEqual([]);
  });

  it("rides on the carrier when the node is gone", () => {
    const { peers } = planFlat(aView([aNode(1, 0)]), held);
    expect(peers.map(({ routes }) => routes.map(({ text }) => text))).toEqual([
      ["10.1.0.0/24", "10.1.16.0/20", "10.96.0.0/16", "10.200.1.1/32", "172.16.1.1/32"],
    ]);
  });
});
