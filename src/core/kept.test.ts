import { describe, expect, it } from "vitest";
import { aMesh, aNode, aView, aWorld, connected, heldAs, known, planOf, unknown } from "../../test/support/build.ts";
import { parseCidr } from "./cidr.ts";
import { diffPeers } from "./diff.ts";
import { clusterName } from "./ids.ts";
import type { Mesh, MeshEntry } from "./mesh.ts";
import type { NodeFacts } from "./node.ts";
import type { HeldPeer } from "./peer.ts";
import type { ClusterView, ConnectedMesh, EntryConnection } from "./world.ts";

const lost = aView([], { nodes: unknown });
const target = (peers: readonly HeldPeer[] = []): ClusterView => aView([aNode(2, 0)], { peers: known(peers) });

/** What the second cluster holds of the first. */
const heldFor = (meshes: readonly Mesh[], nodes: readonly NodeFacts[] = [aNode(1, 0)]): HeldPeer[] =>
  planOf(aWorld({ meshes, views: [aView(nodes), target(), aView([])] }), 2).peers.map((peer) => heldAs(peer));

const changes = (meshes: readonly Mesh[], source: ClusterView, held: readonly HeldPeer[]) =>
  diffPeers(planOf(aWorld({ meshes, views: [source, target(held), lost] }), 2));

const withEntries = (mesh: Mesh, change: (entry: MeshEntry) => MeshEntry): Mesh => ({
  ...mesh,
  entries: mesh.entries.map(change),
});

describe("a Peer that is kept", () => {
  it("keeps hosts that lie side by side and that nobody declared, as the flat form allows them", () => {
    const mesh = aMesh(2, { allowedNetworks: ["10.1.0.0/16", "10.200.1.0/24"] });
    const held = heldFor([mesh], [aNode(1, 0, { internalIps: ["172.16.1.2", "172.16.1.3"] })]);
    expect(changes([mesh], lost, held)).toEqual([]);
  });

  it("loses of routes that became one only what was revoked", () => {
    const held = heldFor(
      [aMesh(2, { additionalCIDRs: ["10.0.0.0/16"] })],
      [aNode(1, 0, { podCidrs: ["10.1.0.0/16"] })],
    );
    expect(held[0]?.allowedIps).toEqual(["10.0.0.0/15", "10.200.1.1/32"]);
    expect(changes([aMesh(2)], lost, held)).toMatchObject([
      { action: "shrink", routes: ["10.1.0.0/16", "10.200.1.1/32"] },
    ]);
  });

  it("has no tunnel in it: a node of its cluster that says it is there has to come to us first", () => {
    const held = heldFor([aMesh(2)]);
    const inside = aNode(1, 1, { forceEndpoint: "10.1.0.9:51820" });
    const departing = [{ name: aNode(1, 0).name, afterMs: 5000, needsList: false }];
    const world = aWorld({ meshes: [aMesh(2)], views: [aView([inside], { departures: departing }), target(held)] });
    expect(planOf(world, 2)).toMatchObject({
      kept: [{ routes: ["10.1.0.0/24", "10.200.1.1/32"] }],
      peers: [{ node: inside.name, endpoint: { host: { ip: "192.0.2.1" }, port: 51820 }, keepaliveSeconds: 25 }],
    });
  });

  it("is not cut off: no tunnel of another cluster leads to its endpoint", () => {
    const mesh = aMesh(3);
    const around = withEntries(mesh, (entry) => {
      const { networks, name } = entry;
      if (networks.form === "flat" || name !== "c3") return entry;
      return {
        ...entry,
        networks: { ...networks, clusterWide: ["198.51.100.0/24"].flatMap((text) => parseCidr(text) ?? []) },
      };
    });
    const three = aView([aNode(3, 0, { forceEndpoint: "203.0.113.3:51820" })]);
    const world = aWorld({ meshes: [around], views: [lost, target(heldFor([mesh])), three] });
    const routes = planOf(world, 2).peers.flatMap((peer) => peer.routes.map(({ text }) => text));
    expect(routes).toEqual(["10.3.0.0/24", "10.200.3.1/32"]);
  });
});

describe("a Peer that two meshes want", () => {
  const both = [aMesh(2), aMesh(2, { additionalCIDRs: ["192.168.7.0/24"] }, "other")];
  const renamed = [
    aMesh(2),
    withEntries(aMesh(2, { additionalCIDRs: ["192.168.7.0/24"] }, "other"), (entry) =>
      entry.name === "c1" ? { ...entry, name: clusterName("c01") } : entry,
    ),
  ];

  it.each([
    ["under one name", both],
    ["under two names", renamed],
  ])("keeps the routes of both while it is only kept, %s", (_, meshes) => {
    const held = heldFor(meshes);
    expect(held).toMatchObject([{ owners: ["kilo-system/my-mesh", "kilo-system/other"] }]);
    expect(changes(meshes, lost, held)).toEqual([]);
    expect(changes(meshes, aView([], { absenceProven: false }), held)).toEqual([]);
  });

  it("is known for one of its cluster also while one of them has lost it: routes of one cluster may nest", () => {
    const meshes = [aMesh(2), aMesh(2, { additionalCIDRs: ["172.16.1.0/24"] }, "other")];
    const held = heldFor(
      meshes,
      [0, 1, 2, 3].map((index) => aNode(1, index)),
    );
    expect(held[0]?.allowedIps).toContain("172.16.1.0/24");
    const views = [aView([aNode(1, 0)], { absenceProven: false }), target(held)];
    const [whole, { connections, ...rest }] = meshes.map(connected) as [ConnectedMesh, ConnectedMesh];
    const lostEntry: EntryConnection = { state: "unknown", reason: "SecretMissing" };
    const blind = { ...rest, connections: new Map(connections).set(clusterName("c1"), lostEntry) };
    for (const both of [
      [whole, blind],
      [blind, whole],
    ]) {
      expect(diffPeers(planOf(aWorld({ views, overrides: { meshes: both } }), 2))).toEqual([]);
    }
  });

  it("goes when the node is proven to be gone from the cluster of both", () => {
    expect(changes(both, aView([]), heldFor(both))).toMatchObject([{ action: "delete" }]);
  });
});

describe("a cluster that gets another name in its mesh", () => {
  const flat = (mesh: Mesh): Mesh =>
    withEntries(mesh, (entry) => {
      const { networks } = entry;
      if (networks.form === "flat") return entry;
      return { ...entry, networks: { form: "flat", allowed: [...networks.pods, networks.wireguard] } };
    });

  it.each<[string, (mesh: Mesh) => Mesh]>([
    ["typed", (mesh) => mesh],
    ["flat", flat],
  ])("keeps its Peers also while another cluster of the mesh cannot be seen (%s form)", (_, form) => {
    const mesh = form(aMesh(3));
    const renamed = withEntries(mesh, (entry) =>
      entry.name === "c1" ? { ...entry, name: clusterName("c01") } : entry,
    );
    const world = aWorld({ meshes: [renamed], views: [aView([aNode(1, 0)]), target(heldFor([mesh])), lost] });
    expect(planOf(world, 2).taken).toEqual([]);
    expect(diffPeers(planOf(world, 2))).toMatchObject([{ action: "update", peer: { source: "c01" } }]);
  });
});
