import { describe, expect, it } from "vitest";
import { aMesh, aNode, aView, aWorld, heldAs, planOf } from "../../test/support/build.ts";
import type { PeerChange } from "./diff.ts";
import { nextPhase } from "./order.ts";

const [peer] = planOf(aWorld({ meshes: [aMesh(2)], views: [aView([aNode(1, 0)]), aView([aNode(2, 0)])] }), 2).peers;
if (!peer) throw new Error("unreachable");

const grows: PeerChange = { action: "update", peer, held: heldAs(peer, { allowedIps: ["10.1.0.0/24"] }) };
const releases = (route: string): PeerChange => ({
  action: "shrink",
  held: heldAs(peer, { allowedIps: ["10.9.9.0/24", route] }),
  routes: ["10.9.9.0/24"],
});

describe("the order of writes", () => {
  it("takes a route away only when the Peer that takes it over has been written", () => {
    const moved = releases("10.200.1.1/32");
    expect(nextPhase([moved, grows])).toEqual([grows]);
    expect(nextPhase([moved])).toEqual([moved]);
  });

  it("does not make what has nothing to do with each other wait", () => {
    const other = releases("10.77.0.0/16");
    const gone: PeerChange = {
      action: "delete",
      held: heldAs(peer, { allowedIps: ["10.78.0.0/16"], publicKey: "other" }),
    };
    expect(nextPhase([other, grows, gone])).toEqual([other, grows, gone]);
  });

  it("deletes a Peer only when its routes are on others", () => {
    const gone: PeerChange = { action: "delete", held: heldAs(peer) };
    const creates: PeerChange = { action: "create", peer };
    expect(nextPhase([gone, creates])).toEqual([creates]);
  });

  it("writes Peers that exchange routes all at once", () => {
    const routes = (texts: string[]) => peer.routes.filter(({ text }) => texts.includes(text));
    const [one, two] = ["10.1.0.0/24", "10.200.1.1/32"] as const;
    const first: PeerChange = {
      action: "update",
      peer: { ...peer, routes: routes([one]) },
      held: heldAs(peer, { allowedIps: [two] }),
    };
    const second: PeerChange = {
      action: "update",
      peer: { ...peer, routes: routes([two]) },
      held: heldAs(peer, { allowedIps: [one] }),
    };
    expect(nextPhase([first, second])).toEqual([first, second]);
  });
});
