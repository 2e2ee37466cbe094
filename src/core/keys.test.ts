import { describe, expect, it } from "vitest";
import {
  aKey,
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
import { networksIn } from "./cidr.ts";
import { diffPeers } from "./diff.ts";
import { type ClusterName, clusterName, meshId } from "./ids.ts";
import { declaredNetworks, type Mesh } from "./mesh.ts";
import type { NodeFacts } from "./node.ts";
import type { HeldPeer } from "./peer.ts";
import type { ClusterView, ConnectedMesh, EntryConnection } from "./world.ts";

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

  it("is the same cluster's, in whatever order the mesh lists them", () => {
    const views = [aView([aNode(1, 0)]), aView([one]), aView([copy])];
    const reversed = { ...mesh, entries: mesh.entries.toReversed() };
    expect(sourcesOf(planOf(aWorld({ meshes: [reversed], views }), 1))).toEqual(["c2"]);
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

describe("a Peer that two meshes share, each with its own name for the cluster", () => {
  const meshOf = (name: string, clusters: readonly string[], createdAt: string): Mesh => ({
    ...mesh,
    ...{ id: meshId(name, name), namespace: name, name, createdAt },
    entries: mesh.entries.filter((entry) => clusters.includes(entry.name)),
  });
  const later = meshOf("b", ["c1", "c2"], "2024-01-01T00:00:00Z");
  const theirs = connected({
    ...later,
    entries: later.entries.map(({ networks, ...entry }) => {
      return { ...entry, networks: { form: "flat", allowed: declaredNetworks({ ...entry, networks }) } };
    }),
  });
  const other = clusterName("other");
  /** The mesh that comes first by name, after whose entry the Peer is called. */
  const first = meshOf("a", ["c1", "c2"], "2020-01-01T00:00:00Z");
  const leads = new Map<ClusterName, EntryConnection>([
    [clusterName("c1"), { state: "connected", id: conn(1) }],
    [other, { state: "connected", id: conn(2) }],
  ]);
  const entries = first.entries.map((entry) => (entry.name === "c2" ? { ...entry, name: other } : entry));
  const ours: ConnectedMesh = { ...connected(first), mesh: { ...first, entries }, connections: leads };

  const planHub = (meshes: readonly ConnectedMesh[], held: readonly HeldPeer[], three: readonly NodeFacts[] = []) => {
    const views = [aView([aNode(1, 0)], { peers: known(held) }), aView([one]), aView(three)];
    return planOf(aWorld({ views, overrides: { meshes } }), 1);
  };
  const shared = planHub([ours, theirs], []).peers.map((peer) => heldAs(peer));

  it("loses nothing of the second one when the first cannot be led to the target", () => {
    expect(shared).toMatchObject([{ source: other, owners: [first.id, later.id] }]);
    expect(shared[0]?.allowedIps).toContain("172.16.2.1/32");
    const lost: EntryConnection = { state: "unknown", reason: "SecretMissing" };
    const blind = { ...ours, connections: new Map(leads).set(clusterName("c1"), lost) };
    expect(diffPeers(planHub([blind, theirs], shared))).toEqual([]);
  });

  it("stays with the second one when the first is gone, whoever else says that it has the key", () => {
    const forger = connected(meshOf("c", ["c1", "c3"], "2019-01-01T00:00:00Z"));
    const forged = { ...copy, name: one.name };
    expect(sourcesOf(planHub([theirs, forger], shared, [forged]))).toEqual(["c2"]);
  });

  it("loses nothing of the second one when the first is gone, whatever else of the second may have hosts of it", () => {
    const wide = later.entries.concat(mesh.entries.filter(({ name }) => name === "c3")).map((entry) => {
      if (entry.name !== "c3") return entry;
      return { ...entry, networks: { form: "flat", allowed: networksIn(["10.3.0.0/16", "172.16.0.0/16"]) } as const };
    });
    const lost: EntryConnection = { state: "unknown", reason: "SecretMissing" };
    const { connections, ...rest } = connected({ ...later, entries: wide });
    const left = {
      ...rest,
      connections: new Map<ClusterName, EntryConnection>(connections).set(clusterName("c3"), lost),
    };
    expect(diffPeers(planHub([left], shared))).toMatchObject([
      { action: "update", peer: { source: "c2", owners: [later.id], routes: [{ text: "10.2.0.0/24" }, {}] } },
    ]);
  });

  it("goes to the second one in one write when the first, which cannot be led to the target, declares nothing of it now", () => {
    const alone = planHub([ours], []).peers.map((peer) => heldAs(peer));
    const lost: EntryConnection = { state: "unknown", reason: "SecretMissing" };
    const networks = mesh.entries.find(({ name }) => name === "c3")?.networks ?? expect.unreachable();
    const revoked = entries.map((entry) => (entry.name === other ? { ...entry, networks } : entry));
    const connections = new Map(leads).set(clusterName("c1"), lost);
    const blind = { ...ours, mesh: { ...first, entries: revoked }, connections };
    expect(diffPeers(planHub([blind, connected(later)], alone))).toMatchObject([
      { action: "update", peer: { owners: [first.id, later.id] } },
    ]);
  });
});
