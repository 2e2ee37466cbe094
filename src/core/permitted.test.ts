import { describe, expect, it } from "vitest";
import {
  aMesh,
  aNode,
  aView,
  aWorld,
  conn,
  connected,
  heldAs,
  known,
  planOf,
  unknown,
} from "../../test/support/build.ts";
import { diffPeers, type PeerChange } from "./diff.ts";
import type { Mesh } from "./mesh.ts";
import type { HeldPeer } from "./peer.ts";
import { permitted } from "./permitted.ts";
import type { World } from "./world.ts";

const mesh = aMesh(2, { allowedNetworks: ["10.1.0.0/16", "10.200.1.0/24", "fd00:1::/32"] });
const source = aView([aNode(1, 0, { podCidrs: ["10.1.0.0/24", "fd00:1::/64"] }), aNode(1, 1)]);
const six = [aNode(2, 0, { internalIps: ["fd00:2::1"] })];
const held = planOf(aWorld({ meshes: [mesh], views: [source, aView(six)] }), 2).peers.map((peer) => heldAs(peer));

function changesIn(
  peers: readonly HeldPeer[],
  meshes: readonly Mesh[] = [mesh],
  world: Partial<World> = {},
): readonly PeerChange[] {
  const views = [source, aView([], { nodes: unknown, peers: known(peers) })];
  const seen = aWorld({ meshes, views, overrides: world });
  const plan = planOf(seen, 2);
  return permitted(seen, plan, diffPeers(plan));
}

describe("a target whose nodes are unknown", () => {
  it("gets nothing new and loses nothing that is wanted, whatever of it depends on its nodes", () => {
    expect(held[0]?.allowedIps).toContain("fd00:1::/64");
    expect(changesIn(held)).toEqual([]);
    expect(changesIn(held.slice(1))).toEqual([]);
    const met = held.map((peer) => ({ ...peer, endpoint: { host: { ip: "203.0.113.7" }, port: 1 }, declared: "none" }));
    expect(changesIn(met)).toEqual([]);
  });

  it("does not lose a Peer that has only routes of which its nodes decide", () => {
    const alone = held.map((peer) => ({ ...peer, allowedIps: ["fd00:1::/64"] }));
    expect(changesIn(alone)).toEqual([]);
  });

  it("loses the Peers of a mesh that is gone: it must not keep that from being deleted", () => {
    expect(changesIn(held, []).map(({ action }) => action)).toEqual(["delete", "delete"]);
  });

  it("does not lose one of two Peers with one key: Kilo would forget the key, and nothing can be touched", () => {
    const double = held.map((peer) => ({ ...peer, name: `z-${peer.name}` as HeldPeer["name"] }));
    expect(changesIn([...held, ...double])).toEqual([]);
  });
});

describe("a target that is leaving", () => {
  const leaving = (peers: readonly HeldPeer[]): World => {
    const lost = { state: "unknown", reason: "SecretMissing" } as const;
    const connections = new Map([...connected(mesh).connections].map(([name]) => [name, name === "c2" ? lost : local]));
    const views = [source, aView(six, { peers: known(peers) })];
    const overrides = { leaving: new Set([conn(2)]), meshes: [{ ...connected(mesh), connections }] };
    return aWorld({ views, overrides });
  };
  const local = { state: "connected", id: conn(1) } as const;
  const changes = (world: World) => permitted(world, planOf(world, 2), diffPeers(planOf(world, 2)));

  it("gets nothing", () => {
    const world = aWorld({ meshes: [mesh], views: [source, aView(six)], overrides: { leaving: new Set([conn(2)]) } });
    expect(changes(world)).toEqual([]);
  });

  it("gets back the keepalive of a Peer that was moving, though the Peer is only kept there", () => {
    const moving = held.map((peer) => ({ ...peer, move: "dropped 203.0.113.1:1", keepaliveSeconds: 0 }));
    expect(changes(leaving(moving)).map(({ action }) => action)).toEqual(["shrink", "shrink"]);
    expect(changes(leaving(held))).toEqual([]);
  });
});
