import { describe, expect, it } from "vitest";
import {
  aKey,
  aMesh,
  aNode,
  aView,
  aWorld,
  conn,
  draining,
  heldAs,
  known,
  planOf,
  unknown,
} from "../../test/support/build.ts";
import { diffPeers } from "./diff.ts";
import { clusterName, meshId, nodeName, type PeerName } from "./ids.ts";
import type { Mesh } from "./mesh.ts";
import { nextPhase } from "./order.ts";
import type { HeldPeer } from "./peer.ts";
import type { World } from "./world.ts";

const mesh = aMesh(2, { serviceCIDR: "10.96.0.0/12" });
const nodes = [aNode(1, 0), aNode(1, 1)];
const synced = planOf(aWorld({ meshes: [mesh], views: [aView(nodes), aView([aNode(2, 0)])] }), 2).peers;

/** As the Go operator leaves it: two labels, no annotation. */
const legacy = (peer: HeldPeer, overrides: Partial<HeldPeer> = {}): HeldPeer => ({
  ...peer,
  instance: "",
  owners: [],
  node: nodeName(""),
  ...overrides,
});

const held = synced.map((peer) => legacy(heldAs(peer)));

function planWith(peers: readonly HeldPeer[], meshes: readonly Mesh[], overrides: Partial<World> = {}) {
  return planOf(aWorld({ meshes, views: [aView(nodes), aView([aNode(2, 0)], { peers: known(peers) })], overrides }), 2);
}

describe("a Peer of the Go operator", () => {
  it("is ours when one living mesh can mean it, and is only stamped", () => {
    const plan = planWith(held, [mesh]);
    expect(diffPeers(plan).map(({ action }) => action)).toEqual(["update", "update"]);
    expect(plan.peers.map(({ name, node }) => [name, node])).toEqual(synced.map(({ name, node }) => [name, node]));
  });

  it("is left alone when two meshes of its name exist", () => {
    const namesake: Mesh = { ...mesh, id: meshId("other", "my-mesh"), namespace: "other" };
    expect(planWith(held, [mesh, namesake]).ours).toEqual([]);
    expect(planWith(held, [mesh], { refused: new Set([meshId("other", "my-mesh")]) }).ours).toEqual([]);
  });

  it("goes with its mesh when that is being deleted, unless one of its name that lives can mean it", () => {
    const namesake: Mesh = { ...mesh, id: meshId("other", "my-mesh"), namespace: "other" };
    const plan = planWith(held, [], { draining: [draining(mesh)] });
    expect([plan.ghosts, diffPeers(plan).map(({ action }) => action)]).toEqual([0, ["delete", "delete"]]);
    const living = diffPeers(planWith(held, [namesake], { draining: [draining(mesh)] }));
    expect(living).toMatchObject(held.map(() => ({ action: "update", peer: { owners: [namesake.id] } })));
    expect(planWith(held, [], { draining: [mesh, namesake].map(draining) }).ours).toEqual([]);
  });

  it("in a cluster that its mesh, which is being deleted, does not lead to, is a ghost", () => {
    const elsewhere = { ...draining(mesh), clusters: [conn(1)] };
    expect(planWith(held, [], { draining: [elsewhere] })).toMatchObject({ ours: [], ghosts: held.length });
    const twins = new Map([[conn(3), conn(2)]]);
    const through = { ...draining(mesh), clusters: [conn(3)] };
    expect(planWith(held, [], { draining: [through], twins }).ours).toHaveLength(held.length);
  });

  describe("of a source that no mesh of its name has", () => {
    const [first] = synced;
    if (!first) throw new Error("a plan without Peers");
    const stale = legacy(
      heldAs(first, { source: clusterName("gone"), publicKey: aKey("gone"), name: "x" as PeerName }),
    );
    const namesake: Mesh = { ...mesh, id: meshId("other", "my-mesh"), namespace: "other" };
    const deletes = { action: "delete", held: expect.objectContaining({ name: "x" }) };

    it.each([
      ["one mesh", [mesh]],
      ["two meshes", [mesh, namesake]],
    ])("goes only when two lists of the meshes agree (%s)", (_, meshes) => {
      const waiting = planWith([stale], meshes);
      expect([waiting.ghosts, waiting.ours]).toEqual([1, []]);
      const proven = planWith([stale], meshes, { ghostsMayGo: true });
      expect(diffPeers(proven)).toContainEqual(expect.objectContaining(deletes));
    });

    it("is left alone while a mesh of its name is not accepted: that may have the source", () => {
      const plan = planWith([stale], [mesh], { refused: new Set([namesake.id]), ghostsMayGo: true });
      expect([plan.ghosts, plan.ours]).toEqual([0, []]);
    });

    it("is taken over in place, when the lists agree, if a node of a source that got another name has its key", () => {
      const renamed = held.map((peer) => ({ ...peer, source: clusterName("old") }));
      expect(planWith(renamed, [mesh]).taken).toHaveLength(2);
      const changes = diffPeers(planWith(renamed, [mesh], { ghostsMayGo: true }));
      expect(changes.map(({ action }) => action)).toEqual(["update", "update"]);
    });
  });

  it("whose mesh is in no namespace goes only when two lists of the meshes agree", () => {
    const ghosts = held.map((peer) => ({ ...peer, mesh: "ghost" }));
    const waiting = planWith(ghosts, []);
    expect([waiting.ghosts, diffPeers(waiting)]).toEqual([2, []]);
    const proven = planWith(ghosts, [], { ghostsMayGo: true });
    expect(diffPeers(proven).map(({ action }) => action)).toEqual(["delete", "delete"]);
  });

  it("that was an anchor of its own is folded into the node's: marked, deleted, touched", () => {
    const [first, second] = held as [HeldPeer, HeldPeer];
    const anchor = { ...first, name: "my-mesh--c1--anchor" as PeerName, allowedIps: ["10.96.0.0/12"] };
    const bare = { ...first, allowedIps: first.allowedIps.filter((text) => text !== "10.96.0.0/12") };
    const plan = planWith([bare, second, anchor], [mesh]);
    const phase = nextPhase(diffPeers(plan));
    expect(phase.map(({ action }) => action)).toEqual(["update", "update"]);
    expect(plan.peers[0]).toMatchObject({ name: first.name, touchPending: true });
    const marked = plan.peers.map((peer) => heldAs(peer));
    const next = planWith([...marked, anchor], [mesh]);
    expect(diffPeers(next)).toMatchObject([{ action: "delete", held: { name: "my-mesh--c1--anchor" } }]);
    const last = planWith(marked, [mesh]);
    expect(diffPeers(last)).toMatchObject([{ action: "update", peer: { name: first.name, touchPending: false } }]);
  });
});

describe("a Peer that its owner offers", () => {
  const [first] = synced;
  if (!first) throw new Error("a plan without Peers");
  const theirs = legacy(heldAs(first), { mesh: "", source: clusterName(""), name: "by-hand" as PeerName });

  it("is taken over with its name when a node that we peer has its key", () => {
    const plan = planWith([{ ...theirs, offered: true }], [mesh]);
    expect(plan.taken).toEqual([]);
    expect(plan.peers.map(({ name }) => name)).toContain("by-hand");
    expect(diffPeers(plan).map(({ action }) => action)).toEqual(["update", "create"]);
  });

  it("is not touched without the offer: its key is taken", () => {
    expect(planWith([theirs], [mesh]).taken).toHaveLength(1);
    expect(diffPeers(planWith([theirs], [mesh])).map(({ action }) => action)).toEqual(["create"]);
  });

  it("is not touched when nobody needs its key", () => {
    const other = { ...theirs, offered: true, publicKey: aKey("a stranger") };
    expect(planWith([other], [mesh]).ours).toEqual([]);
  });

  it("is not touched when its key is on a node that we may not peer", () => {
    const outside = aView([aNode(1, 0, { podCidrs: ["10.9.0.0/24"] })]);
    const target = aView([aNode(2, 0)], { peers: known([{ ...theirs, offered: true }]) });
    expect(diffPeers(planOf(aWorld({ meshes: [mesh], views: [outside, target] }), 2))).toEqual([]);
  });

  it("is not touched when nodes of two clusters have its key: one of them has copied it", () => {
    const target = aView([aNode(2, 0)], { peers: known([{ ...theirs, offered: true }]) });
    const views = [aView([aNode(1, 0)]), target, aView([aNode(3, 0, { key: aKey("c1-n0") })])];
    const plan = planOf(aWorld({ meshes: [aMesh(3)], views }), 2);
    expect(diffPeers(plan)).toEqual([]);
    expect(plan.taken).toHaveLength(2);
    const lost = [...views.slice(0, 2), aView([], { nodes: unknown })];
    expect(diffPeers(planOf(aWorld({ meshes: [aMesh(3)], views: lost }), 2))).toEqual([]);
  });
});
