import { describe, expect, it } from "vitest";
import { aMesh, aNode, aView, aWorld, heldAs, known, planOf } from "../../test/support/build.ts";
import { networksIn } from "./cidr.ts";
import { diffPeers } from "./diff.ts";
import type { HeldPeer } from "./peer.ts";

const mesh = aMesh(2, { allowedNetworks: ["10.1.0.0/16", "10.200.1.0/24"] });
const source = aView([aNode(1, 0, { internalIps: ["172.16.1.1", "10.50.0.1"] })]);

function planWith(allowed: readonly string[], held: readonly HeldPeer[] = []) {
  const target = aView([aNode(2, 0)], { peers: known(held) });
  const overrides = { allowedCidrs: networksIn(allowed) };
  return planOf(aWorld({ meshes: [mesh], views: [source, target], overrides }), 2);
}

const inside = ["10.1.0.0/24", "10.50.0.1/32", "10.200.1.1/32"];

describe("an allowlist of the operator's owner", () => {
  it("drops the routes of a node that lie outside, and a note says which", () => {
    const plan = planWith(["10.0.0.0/8"]);
    expect(plan.peers.flatMap(({ routes }) => routes.map(({ text }) => text))).toEqual(inside);
    expect(plan.notes).toEqual([
      { owners: [mesh.id], source: "c1", reason: "OutsideAllowlist", subject: "172.16.1.1/32 of c1-n0" },
    ]);
  });

  it("takes away what is on a Peer already", () => {
    const held = planWith([]).peers.map((peer) => heldAs(peer));
    expect(held[0]?.allowedIps).toContain("172.16.1.1/32");
    expect(diffPeers(planWith(["10.0.0.0/8"], held))).toMatchObject([
      { action: "update", peer: { routes: inside.map((text) => ({ text })) } },
    ]);
  });

  it("of which one network covers all of it changes nothing", () => {
    expect(planWith(["10.0.0.0/8", "172.16.0.0/12"]).notes).toEqual([]);
    expect(planWith(["10.0.0.0/8", "172.16.0.0/12"]).peers).toEqual(planWith([]).peers);
  });

  it("that covers nothing of a node leaves no Peer", () => {
    const held = planWith([]).peers.map((peer) => heldAs(peer));
    expect(diffPeers(planWith(["192.168.0.0/16"], held))).toMatchObject([{ action: "delete" }]);
  });
});
