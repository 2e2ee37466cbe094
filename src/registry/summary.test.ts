import { describe, expect, it } from "vitest";
import { aMesh, aNode, aView, aWorld, heldAs, planOf } from "../../test/support/build.ts";
import { PeerCounts } from "./summary.ts";

const world = aWorld({ meshes: [aMesh(2)], views: [aView([aNode(1, 0)]), aView([])] });
const [peer] = planOf(world, 2).peers.map((planned) => heldAs(planned));

describe("the count of Peers", () => {
  it("follows every Peer that comes, changes hands and goes", () => {
    const counts = new PeerCounts();
    if (!peer) throw new Error("no Peer is planned");
    const theirs = { ...peer, instance: "another" };
    counts.changed(undefined, peer);
    counts.changed(undefined, peer);
    counts.changed(peer, theirs);
    counts.changed(peer, peer);
    expect(Object.fromEntries(counts.current)).toEqual({ me: 1, another: 1 });
    counts.changed(peer, undefined);
    counts.changed(theirs, undefined);
    expect(counts.current.size).toBe(0);
  });
});
