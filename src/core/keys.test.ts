import { describe, expect, it } from "vitest";
import { aKey, aMesh, aNode, aView, aWorld, heldAs, known, planOf, unknown } from "../../test/support/build.ts";
import { diffPeers } from "./diff.ts";
import type { NodeFacts } from "./node.ts";
import type { HeldPeer } from "./peer.ts";
import type { ClusterView } from "./world.ts";

const mesh = aMesh(3);
const one = aNode(2, 0);
/** A node of another cluster that says it has the first one's key. */
const copy = aNode(3, 0, { key: one.key });

interface Scene {
  readonly two?: readonly NodeFacts[];
  readonly three?: readonly NodeFacts[];
  readonly held?: readonly HeldPeer[];
  readonly away?: Partial<ClusterView>;
}

function plan({ two = [one], three = [copy], held = [], away = {} }: Scene) {
  const views = [aView([aNode(1, 0)], { peers: known(held) }), aView(two, away), aView(three)];
  return planOf(aWorld({ meshes: [mesh], views }), 1);
}

const sourcesOf = ({ peers }: ReturnType<typeof plan>): string[] => peers.map(({ source }) => source);

describe("a public key that two clusters say they have", () => {
  const ofThree = plan({ two: [] }).peers.map((peer) => heldAs(peer));

  it("is one cluster's alone: the other's node waits, and its mesh hears of it", () => {
    const planned = plan({});
    expect(sourcesOf(planned)).toEqual(["c2"]);
    expect(planned.taken.map(({ node }) => node)).toEqual(["c3-n0"]);
  });

  it("stays with the one that has a Peer here", () => {
    expect(sourcesOf(plan({ held: ofThree }))).toEqual(["c3"]);
  });

  it("stays with it also while that cluster cannot be seen, or its node is without annotations", () => {
    const held = plan({ three: [] }).peers.map((peer) => heldAs(peer));
    expect(diffPeers(plan({ held, away: { nodes: unknown } }))).toEqual([]);
    expect(diffPeers(plan({ held, two: [aNode(2, 0, { key: "", wireguardIp: "" })] }))).toEqual([]);
  });

  it("goes to the other when the one that had it has given it up", () => {
    const held = plan({ three: [] }).peers.map((peer) => heldAs(peer));
    expect(sourcesOf(plan({ held, two: [aNode(2, 0, { key: aKey("new") })] })).sort()).toEqual(["c2", "c3"]);
  });

  it("is nobody's when a node of the target has it", () => {
    const planned = plan({ two: [], three: [aNode(3, 0, { key: aKey("c1-n0") })] });
    expect([planned.peers, planned.taken.length]).toEqual([[], 1]);
  });
});
