import { describe, expect, it } from "vitest";
import { aMesh, aNode, aView, aWorld, heldAs, known, planOf } from "../../test/support/build.ts";
import { diffPeers } from "./diff.ts";
import { nodeName } from "./ids.ts";
import type { NodeFacts } from "./node.ts";
import type { HeldPeer } from "./peer.ts";

const mesh = aMesh(2);
const at = (location: string, index: number, overrides: Partial<NodeFacts> = {}): NodeFacts =>
  aNode(1, index, { granularity: "location", location, ...overrides });
const follower = { wireguardIp: "" };

function plan(nodes: readonly NodeFacts[], held: readonly HeldPeer[] = [], silent: readonly string[] = []) {
  const source = aView(nodes, { silent: new Set(silent.map(nodeName)) });
  return planOf(aWorld({ meshes: [mesh], views: [source, aView([aNode(2, 0)], { peers: known(held) })] }), 2);
}

const routesOf = (planned: ReturnType<typeof plan>): Record<string, string[]> =>
  Object.fromEntries(planned.peers.map(({ node, routes }) => [node, routes.map(({ text }) => text)]));

describe("Kilo's granularity location", () => {
  it("gives one Peer per leader, with the routes of all nodes of its location", () => {
    const planned = plan([at("x", 0), at("x", 1, follower), at("y", 2), at("y", 3, follower)]);
    expect(routesOf(planned)).toEqual({
      "c1-n0": ["10.1.0.0/23", "10.200.1.1/32"],
      "c1-n2": ["10.1.2.0/23", "10.200.1.3/32"],
    });
    expect(planned.sources[0]?.skipped).toEqual([]);
  });

  it("keeps a location's routes where they are while it has two leaders", () => {
    const before = plan([at("x", 0), at("x", 1, follower), at("x", 2, follower)]);
    const held = before.peers.map((peer) => heldAs(peer));
    const planned = plan([at("x", 0), at("x", 1), at("x", 2, follower)], held);
    expect(routesOf(planned)["c1-n0"]).toContain("10.1.2.0/24");
    expect(routesOf(planned)["c1-n1"]).toEqual(["10.1.1.0/24", "10.200.1.2/32"]);
  });

  it("moves them when the other one leads alone: a node that does not lead must not be a Peer", () => {
    const before = plan([at("x", 0), at("x", 1, follower), at("x", 2, follower)]);
    const held = before.peers.map((peer) => heldAs(peer));
    const planned = plan([at("x", 0, follower), at("x", 1), at("x", 2, follower)], held);
    expect(routesOf(planned)["c1-n1"]).toEqual(["10.1.0.0/23", "10.1.2.0/24", "10.200.1.2/32"]);
    expect(diffPeers(planned).map(({ action }) => action)).toEqual(["create", "delete"]);
  });

  it("moves them when their leader has fallen silent and exactly one other is heard", () => {
    const held = plan([at("x", 0), at("x", 1, follower), at("x", 2, follower)]).peers.map((peer) => heldAs(peer));
    const two = [at("x", 0), at("x", 1), at("x", 2, follower)];
    expect(routesOf(plan(two, held, ["c1-n0"]))["c1-n1"]).toContain("10.1.2.0/24");
    const three = [...two, at("x", 3)];
    expect(routesOf(plan(three, held, ["c1-n0"]))["c1-n0"]).toContain("10.1.2.0/24");
    expect(routesOf(plan(two, held, ["c1-n0", "c1-n1"]))["c1-n0"]).toContain("10.1.2.0/24");
  });

  it("is told as unclear where nothing says who leads: then leaders carry only their own", () => {
    const planned = plan([at("x", 0), at("x", 1), at("x", 2, follower)]);
    expect(planned.notes).toMatchObject([{ reason: "GranularityUnclear", subject: "x" }]);
    expect(routesOf(planned)["c1-n0"]).toEqual(["10.1.0.0/24", "10.200.1.1/32"]);
  });

  it("leaves a node without WireGuard IP out in the other modes, and where its location has no leader", () => {
    const full = plan([aNode(1, 0), aNode(1, 1, follower)]);
    const lost = plan([at("x", 0), at("elsewhere", 1, follower)]);
    for (const planned of [full, lost]) {
      expect(planned.sources[0]?.skipped).toMatchObject([{ name: "c1-n1", reason: "NodeNoWireguardIP" }]);
    }
  });
});
