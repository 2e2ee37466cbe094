import { describe, expect, it } from "vitest";
import { aMesh, aNode, aView, aWorld, conn, heldAs, known, planOf, unknown } from "../../test/support/build.ts";
import { networksIn } from "./cidr.ts";
import { diffPeers } from "./diff.ts";
import { clusterName, meshId } from "./ids.ts";
import type { MeshEntry } from "./mesh.ts";
import { nextPhase } from "./order.ts";
import type { HeldPeer } from "./peer.ts";
import type { ClusterView, ConnectedMesh, EntryConnection } from "./world.ts";

const to = (cluster: number): EntryConnection => ({ state: "connected", id: conn(cluster) });

function withService(entry: MeshEntry): MeshEntry {
  const { networks } = entry;
  return networks.form === "flat"
    ? entry
    : { ...entry, networks: { ...networks, clusterWide: networksIn(["10.96.0.0/16"]) } };
}

/** A mesh with a name for each cluster; what is declared goes with the cluster, whatever its name. */
function calling(id: string, names: readonly string[], createdAt = "2020-01-01T00:00:00Z"): ConnectedMesh {
  const entries = aMesh(3)
    .entries.map((entry, index) => ({ ...entry, name: clusterName(names[index] ?? "") }))
    .filter(({ name }) => name !== "")
    .map((entry) => (entry.name === "east" ? withService(entry) : entry));
  const connections = new Map(names.map((name, index) => [clusterName(name), to(index + 1)]));
  const mesh = { ...aMesh(3), id: meshId(id, id), namespace: id, name: id, createdAt, entries };
  return { mesh, connections, ledger: new Set([1, 2, 3].map(conn)) };
}

const named =
  ({ mesh }: ConnectedMesh) =>
  (entry: MeshEntry, index: number): MeshEntry => ({ ...entry, name: mesh.entries[index]?.name ?? entry.name });

const first = calling("a", ["hub", "east", ""]);
/** Calls the third cluster as the first mesh calls the second. */
const other = calling("b", ["hub", "west", "east"], "2019-01-01T00:00:00Z");

function plan(views: readonly [ClusterView, ClusterView], held: readonly HeldPeer[] = []) {
  const hub = aView([aNode(1, 0)], { peers: known(held) });
  return planOf(aWorld({ views: [hub, ...views], overrides: { meshes: [first, other] } }), 1);
}

describe("a Peer of two meshes, of which one has its name for another cluster", () => {
  const both = aView([aNode(2, 0), aNode(2, 1)]);
  const held = plan([both, aView([])]).peers.map((peer) => heldAs(peer));

  it("goes with its node, whatever becomes of that other cluster, and what it carries is on another before", () => {
    expect(held.map(({ source, owners }) => [source, owners])).toEqual([
      ["east", ["a/a", "b/b"]],
      ["east", ["a/a", "b/b"]],
    ]);
    const planned = plan([aView([aNode(2, 1)]), aView([], { nodes: unknown })], held);
    expect(planned.kept).toEqual([]);
    expect(nextPhase(diffPeers(planned))).toMatchObject([{ action: "update", peer: { node: "c2-n1" } }]);
  });

  it("stays when its cluster is lost, also where its first owner has the name for another one by now", () => {
    const renamed = { ...calling("a", ["hub", "", "east"]), connections: other.connections };
    const overrides = { meshes: [renamed, other] };
    const views = (peers: readonly HeldPeer[], two: ClusterView) => [
      aView([aNode(1, 0)], { peers: known(peers) }),
      two,
      aView([], { nodes: unknown }),
    ];
    const settled = planOf(aWorld({ views: views(held, both), overrides }), 1).peers.map((peer) => heldAs(peer));
    expect(settled.map(({ source }) => source)).toEqual(["east", "east"]);
    const lost = aWorld({ views: views(settled, aView([], { nodes: unknown })), overrides });
    expect(diffPeers(planOf(lost, 1))).toEqual([]);
  });

  it("keeps the routes of the other mesh while the first has lost the cluster and Kilo restarts on the node", () => {
    const adding = calling("b", ["hub", "west", ""]);
    const [hub, west] = adding.mesh.entries.map((entry, index) => (index === 1 ? withService(entry) : entry));
    const theirs = { ...adding, mesh: { ...adding.mesh, entries: [hub, west].flatMap((entry) => entry ?? []) } };
    const plain = { ...first, mesh: { ...first.mesh, entries: aMesh(2).entries.map(named(first)) } };
    const views = (peers: readonly HeldPeer[], two: ClusterView) => [
      aView([aNode(1, 0)], { peers: known(peers) }),
      two,
    ];
    const before = planOf(aWorld({ views: views([], both), overrides: { meshes: [plain, theirs] } }), 1);
    const settled = before.peers.map((peer) => heldAs(peer));
    const lost: EntryConnection = { state: "unknown", reason: "SecretMissing" };
    const blind = { ...plain, connections: new Map(plain.connections).set(clusterName("east"), lost) };
    const stripped = aView([aNode(2, 0, { key: "", wireguardIp: "" }), aNode(2, 1)]);
    const world = aWorld({ views: views(settled, stripped), overrides: { meshes: [blind, theirs] } });
    expect(settled[0]?.allowedIps).toContain("10.96.0.0/16");
    expect(diffPeers(planOf(world, 1))).toEqual([]);
  });

  it("stays with its cluster, also when a node of that other one says it has the key", () => {
    const forged = { ...aNode(3, 0, { key: aNode(2, 0).key }), name: aNode(2, 0).name };
    expect(diffPeers(plan([both, aView([forged])], held))).toEqual([]);
  });
});
