import { describe, expect, it } from "vitest";
import { diffPeers } from "../../src/core/diff.ts";
import { clusterName, meshId, type PeerName } from "../../src/core/ids.ts";
import type { Mesh } from "../../src/core/mesh.ts";
import type { NodeFacts } from "../../src/core/node.ts";
import type { HeldPeer } from "../../src/core/peer.ts";
import { type KnownPlan, planTarget } from "../../src/core/plan.ts";
import type { ClusterView, World } from "../../src/core/world.ts";
import { aKey, aMesh, aNode, aView, aWorld, conn, heldAs, known, planOf, unknown } from "../support/build.ts";

const mesh = aMesh(2, { serviceCIDR: "10.96.0.0/12" });
const nodes = [aNode(1, 0), aNode(1, 1)];

interface Scene {
  readonly meshes?: readonly Mesh[];
  readonly one?: readonly NodeFacts[];
  readonly held?: readonly HeldPeer[];
  readonly view?: Partial<ClusterView>;
  readonly overrides?: Partial<World>;
}

/** What is planned for cluster 2. */
function plan({ meshes = [mesh], one = nodes, held = [], view = {}, overrides = {} }: Scene = {}): KnownPlan {
  const views = [aView(one, view), aView([aNode(2, 0)], { peers: known(held) })];
  return planOf(aWorld({ meshes, views, overrides }), 2);
}

const actions = (planned: KnownPlan): string[] =>
  diffPeers(planned).map((change) => `${change.action} ${"peer" in change ? change.peer.node : change.held.node}`);

const synced = plan().peers.map((peer) => heldAs(peer));

describe("what is written into a cluster", () => {
  it("is nothing where nothing is there and nothing is wanted", () => {
    expect(actions(plan({ one: [] }))).toEqual([]);
  });

  it("is every Peer where none is there", () => {
    expect(actions(plan())).toEqual(["create c1-n0", "create c1-n1"]);
  });

  it("is a creation, an update and a deletion where a node came, one moved and one went", () => {
    const one = [aNode(1, 1, { forceEndpoint: "203.0.113.9:7" }), aNode(1, 2)];
    expect(actions(plan({ meshes: [aMesh(2)], one, held: synced })).sort()).toEqual([
      "create c1-n2",
      "delete c1-n0",
      "update c1-n1",
    ]);
  });

  it("is no deletion while a list that is suddenly empty is the only one", () => {
    const held = plan({ one: [], held: synced, view: { absenceProven: false } });
    expect(actions(held)).toEqual([]);
    expect(held.kept.map(({ reason }) => reason)).toEqual(["WithdrawalHeld", "WithdrawalHeld"]);
    const skipped = nodes.map((node) => ({ ...node, key: "", wireguardIp: "" }));
    expect(actions(plan({ one: skipped, held: synced }))).toEqual([]);
  });

  it("is the deletion of a Peer whose cluster has left the spec, and of no other", () => {
    const [first] = synced;
    if (!first) throw new Error("unreachable");
    const marks = { name: "my-mesh--gone--n" as PeerName, source: clusterName("gone") };
    const stale = { ...first, ...marks, publicKey: aKey("gone"), allowedIps: ["10.7.0.0/24"] };
    expect(diffPeers(plan({ held: [...synced, stale] }))).toEqual([{ action: "delete", held: stale }]);
  });

  it("is the deletion of a Peer that claims to come from the very cluster it lies in", () => {
    const [first] = synced;
    if (!first) throw new Error("unreachable");
    const own = { ...first, name: "x" as PeerName, source: clusterName("c2"), publicKey: aKey("x"), allowedIps: [] };
    expect(diffPeers(plan({ held: [...synced, own] }))).toEqual([{ action: "delete", held: own }]);
  });
});

describe("a mesh that goes", () => {
  const other = aMesh(2, {}, "other");

  it("takes its own Peers and its share of common ones, and leaves those of its sibling", () => {
    const both = plan({ meshes: [mesh, other] }).peers.map((peer) => heldAs(peer));
    const after = plan({ meshes: [other], held: both });
    expect(actions(after)).toEqual(["update c1-n0", "update c1-n1"]);
    expect(after.peers.map(({ owners }) => owners)).toEqual([["kilo-system/other"], ["kilo-system/other"]]);
  });

  it("leaves nothing in a cluster that another mesh still reaches", () => {
    const gone = synced.map((peer) => ({
      ...peer,
      owners: [meshId("kilo-system", "gone")],
      publicKey: aKey(peer.node),
    }));
    expect(actions(plan({ meshes: [aMesh(2)], one: [], held: gone }))).toEqual(["delete c1-n0", "delete c1-n1"]);
  });

  it("leaves nothing in a cluster that it no longer names, while it lives on elsewhere", () => {
    const three = aMesh(3);
    const views = [aView(nodes), aView([aNode(2, 0)]), aView([aNode(3, 0)], { peers: known([]) })];
    const held = planOf(aWorld({ meshes: [three], views }), 3).peers.map((peer) => heldAs(peer));
    const now = [aView(nodes), aView([aNode(2, 0)]), aView([aNode(3, 0)], { peers: known(held) })];
    const planned = planOf(aWorld({ meshes: [aMesh(2)], views: now }), 3);
    expect(diffPeers(planned).map(({ action }) => action)).toEqual(["delete", "delete", "delete"]);
  });
});

describe("trouble somewhere else", () => {
  it("of a mesh that is refused does not stop the mesh beside it", () => {
    const refused = new Set([meshId("kilo-system", "broken")]);
    expect(actions(plan({ overrides: { refused } }))).toEqual(["create c1-n0", "create c1-n1"]);
  });

  it("of a cluster that was never seen holds up no other", () => {
    const dead = aView([], { nodes: unknown, peers: unknown });
    const world = aWorld({ meshes: [aMesh(3)], views: [aView(nodes), aView([aNode(2, 0)]), dead] });
    expect(actions(planOf(world, 2))).toEqual(["create c1-n0", "create c1-n1"]);
    expect(actions(planOf(world, 1))).toEqual(["create c2-n0"]);
    expect(planTarget(world, conn(3)).state).toBe("unknown");
  });
});

describe("a plan", () => {
  it("changes nothing of what it was made from", () => {
    const views = [aView(nodes), aView([aNode(2, 0)], { peers: known(synced) })];
    const world = deeplyFrozen(aWorld({ meshes: [mesh], views }));
    expect(planOf(world, 2).peers).toEqual(plan({ held: synced }).peers);
  });
});

/** Any write to a part of it throws. */
function deeplyFrozen<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  const parts = value instanceof Map || value instanceof Set ? [...value].flat() : Object.values(value);
  for (const part of parts) deeplyFrozen(part);
  return value;
}
