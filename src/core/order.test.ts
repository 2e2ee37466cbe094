import { describe, expect, it } from "vitest";
import { aMesh, aNode, aView, aWorld, heldAs, planOf } from "../../test/support/build.ts";
import { networksIn } from "./cidr.ts";
import type { PeerChange } from "./diff.ts";
import type { PublicKey } from "./ids.ts";
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

  const routes = (texts: readonly string[]) => networksIn(texts);
  /** A Peer that has one route and gets another. */
  const trades = (key: string, from: string, to: string): PeerChange => ({
    action: "update",
    peer: { ...peer, publicKey: key as PublicKey, routes: routes([to]) },
    held: heldAs(peer, { publicKey: key, allowedIps: [from] }),
  });
  const [one, two, three] = ["10.1.0.0/24", "10.200.1.1/32", "10.2.0.0/24"] as const;

  it("writes Peers that exchange routes all at once", () => {
    const swap = [trades("a", two, one), trades("b", one, two)];
    expect(nextPhase(swap)).toEqual(swap);
    const round = [trades("a", one, two), trades("b", two, three), trades("c", three, one)];
    expect(nextPhase(round)).toEqual(round);
  });

  it("does not make Peers that exchange routes wait for a write that has nothing to do with them", () => {
    const swap = [trades("a", two, one), trades("b", one, two)];
    const creates: PeerChange = { action: "create", peer: { ...peer, routes: routes(["10.9.0.0/24"]) } };
    expect(nextPhase([creates, ...swap])).toEqual([creates, ...swap]);
  });

  it("makes an exchange wait for the Peer that takes over what it releases", () => {
    const swap = [trades("a", two, one), trades("b", one, two)];
    const [first] = swap;
    if (first?.action !== "update") throw new Error("unreachable");
    const held = { ...first.held, allowedIps: [two, three] };
    const takes: PeerChange = { action: "create", peer: { ...peer, routes: routes([three]) } };
    expect(nextPhase([{ ...first, held }, ...swap.slice(1), takes])).toEqual([takes]);
  });

  it("makes what waits for an exchange wait until that is written", () => {
    const swap = [trades("a", two, one), trades("b", one, two)];
    const gone: PeerChange = { action: "delete", held: heldAs(peer, { publicKey: "c", allowedIps: [one] }) };
    const twin: PeerChange = { action: "delete", held: heldAs(peer, { publicKey: "a", allowedIps: ["10.7.0.0/16"] }) };
    expect(nextPhase([gone, twin, ...swap])).toEqual(swap);
  });
});
