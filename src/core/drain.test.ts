import { describe, expect, it } from "vitest";
import {
  aMesh,
  aNode,
  aView,
  aWorld,
  conn,
  connected,
  draining,
  heldAs,
  known,
  planOf,
  unknown,
} from "../../test/support/build.ts";
import { diffPeers } from "./diff.ts";
import { type DrainRow, drainState, isServed } from "./drain.ts";
import { clusterName, meshId } from "./ids.ts";
import type { Mesh } from "./mesh.ts";
import type { HeldPeer } from "./peer.ts";
import { permitted } from "./permitted.ts";
import type { ClusterView, World } from "./world.ts";

const named = (name: string): Mesh => ({ ...aMesh(2), id: meshId(name, name), namespace: name, name });
const deleted = named("deleted");
const other = named("other");
const two = aView([aNode(2, 0)]);
const hub: DrainRow = {
  cluster: clusterName("c1"),
  reach: "local",
  connection: { state: "connected", id: conn(1) },
};

/** What the first cluster holds of these meshes. */
function heldOf(...meshes: readonly Mesh[]): readonly HeldPeer[] {
  return planOf(aWorld({ meshes, views: [aView([aNode(1, 0)]), two] }), 1).peers.map((peer) => heldAs(peer));
}

interface Scene extends Partial<World> {
  readonly held: readonly HeldPeer[];
  readonly here?: Partial<ClusterView>;
  readonly there?: ClusterView;
}

/** What is written into the first cluster of a mesh that was deleted, and how far it is from being empty. */
function drain({ held, here, there = two, ...overrides }: Scene) {
  const world = aWorld({ views: [aView([aNode(1, 0)], { peers: known(held), ...here }), there], overrides });
  const plan = planOf(world, 1);
  const writes = permitted(world, plan, diffPeers(plan)).map(({ action }) => action);
  return { writes, state: drainState(world, deleted.id, hub) };
}

describe("a cluster of a deleted mesh", () => {
  const shared = heldOf(deleted, other);

  it("holds what is to be deleted", () => {
    expect(drain({ held: heldOf(deleted) })).toEqual({ writes: ["delete"], state: "holds" });
  });

  it("holds a Peer that its finalizers keep, which is not deleted again: the answer would be that it is gone", () => {
    const held = heldOf(deleted).map((peer) => ({ ...peer, isTerminating: true as const }));
    expect(drain({ held })).toEqual({ writes: [], state: "holds" });
  });

  it("holds Peers of the Go operator that only it can mean", () => {
    const held = heldOf(deleted).map((peer) => ({ ...peer, instance: "", owners: [] }));
    expect(drain({ held, draining: [draining(deleted)] })).toEqual({ writes: ["delete"], state: "holds" });
    expect(drain({ held, draining: [draining(other)] })).toEqual({ writes: [], state: "empty" });
  });

  it.each<[string, Partial<Scene>]>([
    ["is not accepted", { refused: new Set([other.id]) }],
    ["cannot see the cluster it comes from", { meshes: [connected(other)], there: aView([], { nodes: unknown }) }],
    ["cannot see the nodes there", { meshes: [connected(other)], here: { nodes: unknown } }],
  ])("is not waited for where all it holds is also of another one, which %s", (_, scene) => {
    expect(drain({ held: shared, ...scene })).toEqual({ writes: [], state: "shared" });
  });

  it("holds what another mesh owns that has left it", () => {
    const elsewhere = { ...connected(other), connections: new Map() };
    const entries = other.entries.map((entry) => ({ ...entry, networks: { form: "flat", allowed: [] } as const }));
    const gone = { ...elsewhere, mesh: { ...other, entries } };
    expect(drain({ held: shared, meshes: [gone] })).toEqual({ writes: ["delete"], state: "holds" });
  });
});

describe("a cluster whose Secret is gone", () => {
  const row = { cluster: clusterName("old"), reach: { name: "gone", key: "kubeconfig" } };
  const connection = { state: "unknown", reason: "SecretMissing" } as const;
  const world = aWorld({ meshes: [other], views: [aView([aNode(1, 0)]), two] });

  it("is served when an entry leads where its Secret led, if only through another connection", () => {
    const twins = new Map([[conn(3), conn(2)]]);
    expect(isServed(world, other.id, { ...row, connection, last: conn(2) })).toBe(true);
    expect(isServed({ ...world, twins }, other.id, { ...row, connection, last: conn(3) })).toBe(true);
  });

  it("is not served when nobody knows where that was, or no entry leads there", () => {
    expect(isServed(world, other.id, { ...row, connection })).toBe(false);
    expect(isServed(world, other.id, { ...row, connection, last: conn(3) })).toBe(false);
  });
});
