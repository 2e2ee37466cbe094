import { describe, expect, it } from "vitest";
import { aMesh, aNode, aView, aWorld, heldAs, planOf } from "../../test/support/build.ts";
import type { PeerChange } from "./diff.ts";
import { nextPhase } from "./order.ts";

const [peer] = planOf(aWorld({ meshes: [aMesh(2)], views: [aView([aNode(1, 0)]), aView([aNode(2, 0)])] }), 2).peers;
if (!peer) throw new Error("unreachable");

describe("the order of writes", () => {
  it("adds routes first, then takes some away, then deletes, so that a moving route is never on no Peer", () => {
    const grows: PeerChange = { action: "update", peer, held: heldAs(peer, { allowedIps: ["10.1.0.0/24"] }) };
    const shrinks: PeerChange = {
      action: "update",
      peer,
      held: heldAs(peer, { allowedIps: [...peer.routes.map(({ text }) => text), "10.96.0.0/12"] }),
    };
    const creates: PeerChange = { action: "create", peer };
    const deletes: PeerChange = { action: "delete", held: heldAs(peer) };
    expect(nextPhase([deletes, shrinks, grows, creates])).toEqual([grows, creates]);
    expect(nextPhase([deletes, shrinks])).toEqual([shrinks]);
    expect(nextPhase([deletes])).toEqual([deletes]);
  });

  it("ends with nothing to write", () => {
    expect(nextPhase([])).toEqual([]);
  });
});
