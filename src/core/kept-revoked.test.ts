import { describe, expect, it } from "vitest";
import { aMesh, aNode, aView, aWorld, connected, heldAs, known, planOf, unknown } from "../../test/support/build.ts";
import { networksIn } from "./cidr.ts";
import { diffPeers } from "./diff.ts";
import { type ClusterName, clusterName, meshId } from "./ids.ts";
import type { KeptReason } from "./kept.ts";
import type { Mesh } from "./mesh.ts";
import type { HeldPeer } from "./peer.ts";
import type { ClusterView, ConnectedMesh, EntryConnection, World } from "./world.ts";

const here = [aNode(2, 0)];
const lost = aView([], { nodes: unknown });
const allowedCidrs = networksIn(["10.0.0.0/8"]);

/** What the second cluster holds of the first. */
const heldFor = (mesh: Mesh): HeldPeer[] =>
  planOf(aWorld({ meshes: [mesh], views: [aView([aNode(1, 0)]), aView(here)] }), 2).peers.map((peer) => heldAs(peer));

/** The second cluster is led to by nothing that is known now. */
const led = (mesh: Mesh): ConnectedMesh => {
  const { connections, ...rest } = connected(mesh);
  return { ...rest, connections: new Map(connections).set(clusterName("c2"), unknownEntry) };
};
const unknownEntry = { state: "unknown", reason: "SecretMissing" } as const;

interface Case {
  readonly reason: KeptReason;
  readonly source?: ClusterView;
  readonly world?: (mesh: Mesh) => Partial<World>;
}

const departure = { name: aNode(1, 0).name, afterMs: 5000, needsList: false };
const cases: readonly Case[] = [
  { reason: "SourceUnknown", source: lost },
  { reason: "NodeDeparting", source: aView([], { departures: [departure] }) },
  { reason: "NodeNotReady", source: aView([aNode(1, 0, { key: "", wireguardIp: "" })]) },
  { reason: "WithdrawalHeld", source: aView([], { absenceProven: false }) },
  { reason: "OwnedElsewhere", world: (mesh) => ({ meshes: [led(mesh)] }) },
  { reason: "MeshNotAccepted", world: ({ id }) => ({ meshes: [], refused: new Set([id]) }) },
];

function planFor({ source = aView([aNode(1, 0)]), world }: Case, mesh: Mesh, held: readonly HeldPeer[]) {
  const views = [source, aView(here, { peers: known(held) })];
  return (overrides: Partial<World> = {}) =>
    planOf(aWorld({ meshes: [mesh], views, overrides: { ...world?.(mesh), ...overrides } }), 2);
}

describe("a Peer that is only kept", () => {
  it.each(cases)("loses what the allowlist does not cover ($reason)", (one) => {
    const mesh = aMesh(2, { allowedNetworks: ["10.1.0.0/16", "10.200.1.0/24"] });
    const planned = planFor(one, mesh, heldFor(mesh));
    expect(planned().kept).toMatchObject([{ reason: one.reason }]);
    expect(diffPeers(planned())).toEqual([]);
    expect(diffPeers(planned({ allowedCidrs }))).toMatchObject([
      { action: "shrink", routes: ["10.1.0.0/24", "10.200.1.1/32"] },
    ]);
  });

  it.each(cases.slice(0, -1))("loses what its mesh declares no more ($reason)", (one) => {
    const planned = planFor(one, aMesh(2), heldFor(aMesh(2, { additionalCIDRs: ["192.168.7.0/24"] })));
    expect(planned().kept).toMatchObject([{ reason: one.reason }]);
    expect(diffPeers(planned())).toMatchObject([{ action: "shrink", routes: ["10.1.0.0/24", "10.200.1.1/32"] }]);
  });
});

describe("a mesh that leaves a cluster", () => {
  const before = aMesh(3);
  const without = (mesh: Mesh, name: string): Mesh => ({
    ...mesh,
    entries: mesh.entries.filter((entry) => entry.name !== name),
  });
  const left = without(before, "c1");
  const other: Mesh = { ...aMesh(2), id: meshId("other", "other"), namespace: "other", name: "other" };
  const views = [aView([aNode(1, 0)]), aView([aNode(2, 0)]), aView([aNode(3, 0)])] as const;
  const held = planOf(aWorld({ meshes: [before, other], views }), 1).peers.map((peer) => heldAs(peer));

  const changesIn = (three: ClusterView, two: ClusterView = views[1]) => {
    const hub = aView([aNode(1, 0)], { peers: known(held) });
    const world = aWorld({ meshes: [left, other], views: [hub, two, three] });
    return diffPeers(planOf(world, 1)).filter(({ action }) => action === "delete");
  };
  const forged = aView([aNode(3, 0, { uid: aNode(1, 0).uid })], { trust: "another ca" });

  it.each<[string, ClusterView, ClusterView?]>([
    ["is known", views[2]],
    ["cannot be seen", lost],
    ["cannot be seen, nor any other of its mesh", lost, lost],
    ["copies the UIDs of that cluster's nodes", forged],
  ])("takes the Peers of a source along that %s", (_, three, two) => {
    expect(changesIn(three, two)).toMatchObject([{ held: { name: "my-mesh--c3--c3-n0" } }]);
  });

  it("keeps them while another entry that declares its networks cannot be seen: that may lead to it", () => {
    const renamed = { ...before, entries: before.entries.map((e) => (e.name === "c1" ? { ...e, name: hubName } : e)) };
    const connections: ReadonlyMap<ClusterName, EntryConnection> = new Map<ClusterName, EntryConnection>([
      [hubName, unknownEntry],
      ...[...connected(left).connections],
    ]);
    const away: ConnectedMesh = { ...connected(before), mesh: renamed, connections };
    const hub = aView([aNode(1, 0)], { peers: known(held) });
    const overrides = { meshes: [away, connected(other)] };
    const plan = planOf(aWorld({ views: [hub, views[1], views[2]], overrides }), 1);
    expect(plan.kept).toMatchObject([{ held: { source: "c3" }, reason: "OwnedElsewhere" }]);
    expect(diffPeers(plan)).toEqual([]);
  });
});

const hubName = clusterName("hub");
