import { describe, expect, it } from "vitest";
import { aMesh, aNode, aView, aWorld, heldAs, known, planOf } from "../../test/support/build.ts";
import { diffPeers } from "./diff.ts";
import { nodeName } from "./ids.ts";
import { nextPhase } from "./order.ts";
import type { HeldPeer } from "./peer.ts";

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
