import { describe, expect, it } from "vitest";
import { aMesh, aNode, aView, aWorld, heldAs, known, planOf } from "../../test/support/build.ts";
import { diffPeers } from "./diff.ts";
import type { NodeFacts } from "./node.ts";
import type { HeldPeer } from "./peer.ts";

const halves = { podCidrs: ["10.1.0.0/25", "10.1.0.128/25"] };

/** The plan of the second cluster for nodes of the first. */
function plan(nodes: readonly NodeFacts[], held: readonly HeldPeer[] = [], additionalCIDRs: readonly string[] = []) {
  const views = [aView(nodes), aView([aNode(2, 0)], { peers: known(held) })];
  return planOf(aWorld({ meshes: [aMesh(2, { additionalCIDRs: [...additionalCIDRs] })], views }), 2);
}

const routes = (planned: ReturnType<typeof plan>): string[][] =>
  planned.peers.map((peer) => peer.routes.map(({ text }) => text));

describe("the routes of a Peer", () => {
  it("are as few as have exactly the same addresses", () => {
    expect(routes(plan([aNode(1, 0, halves)]))).toEqual([["10.1.0.0/24", "10.200.1.1/32"]]);
  });

  it("are not written anew only because the Peer holds them in more pieces", () => {
    const nodes = [aNode(1, 0, halves)];
    const held = plan(nodes).peers.map((peer) =>
      heldAs(peer, { allowedIps: ["10.1.0.0/25", "10.1.0.128/25", "10.200.1.1/32", "10.1.0.7/32"] }),
    );
    expect(diffPeers(plan(nodes, held))).toEqual([]);
  });

  it("are written when the pieces are not all there", () => {
    const nodes = [aNode(1, 0, halves)];
    const held = plan(nodes).peers.map((peer) => heldAs(peer, { allowedIps: ["10.1.0.0/25", "10.200.1.1/32"] }));
    expect(diffPeers(plan(nodes, held))).toMatchObject([{ action: "update" }]);
  });

  it("stay in pieces where a route of another Peer lies around them: there the longer prefix decides", () => {
    const nodes = [
      aNode(1, 0),
      aNode(1, 1, { internalIps: ["172.31.0.2"] }),
      aNode(1, 2, { internalIps: ["172.31.0.3"] }),
    ];
    const [carrier, second] = routes(plan(nodes, [], ["172.31.0.0/16"]));
    expect(carrier).toContain("172.31.0.0/16");
    expect(second).toContain("172.31.0.2/32");
  });

  it("that somebody has in one piece are incumbent in all of its parts", () => {
    const nodes = [aNode(1, 0, halves)];
    const held = plan(nodes).peers.map((peer) => heldAs(peer));
    expect(held[0]?.allowedIps).toEqual(["10.1.0.0/24", "10.200.1.1/32"]);
    expect(plan(nodes, held).refused).toEqual([]);
    expect(diffPeers(plan(nodes, held))).toEqual([]);
  });

  it("are written anew when a piece of them is another Peer's now, though they have the same addresses without it", () => {
    const shared = { internalIps: ["10.1.0.7"] };
    const nodes = [aNode(1, 0, { ...shared, podCidrs: ["10.1.0.0/20"] }), aNode(1, 1, { podCidrs: ["10.1.0.0/24"] })];
    const [first, second] = plan(nodes).peers.map((peer) => heldAs(peer));
    if (!first || !second) throw new Error("a plan without Peers");
    expect([first, second].map(({ allowedIps }) => allowedIps)).toEqual([
      ["10.1.0.0/20", "10.1.0.7/32", "10.200.1.1/32"],
      ["10.1.0.0/24", "10.200.1.2/32"],
    ]);
    const doubled = { ...second, allowedIps: ["10.1.0.0/24", "10.1.0.7/32", "10.200.1.2/32"] };
    expect(diffPeers(plan(nodes, [first, doubled]))).toMatchObject([{ action: "update", peer: { node: "c1-n1" } }]);
  });
});
