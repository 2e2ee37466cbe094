import { describe, expect, it } from "vitest";
import { aMesh, aNode, aView, aWorld, connected, heldAs, known, planOf, unknown } from "../../test/support/build.ts";
import { networksIn } from "./cidr.ts";
import { diffPeers } from "./diff.ts";
import { parseDiscovered } from "./discovered.ts";
import { type ClusterName, clusterName, meshId, nodeName } from "./ids.ts";
import type { Mesh } from "./mesh.ts";
import type { HeldPeer } from "./peer.ts";
import type { ClusterView, ConnectedMesh, EntryConnection, World } from "./world.ts";

const views = [aView([aNode(1, 0)]), aView([aNode(2, 0)]), aView([aNode(3, 0)])] as const;
const lost = aView([], { nodes: unknown });

/** A mesh over some of three clusters that adds networks to the second. */
function over(name: string, clusters: readonly string[], added: readonly string[] = []): Mesh {
  const entries = aMesh(3).entries.filter((entry) => clusters.includes(entry.name));
  const id = meshId(name, name);
  return {
    ...{ ...aMesh(3), id, namespace: name, name },
    entries: entries.map((entry) => {
      const { networks } = entry;
      if (networks.form === "flat" || entry.name !== "c2") return entry;
      return { ...entry, networks: { ...networks, clusterWide: networksIn(added) } };
    }),
  };
}

const a = over("a", ["c1", "c2"]);
const b = over("b", ["c1", "c2", "c3"], ["192.168.5.0/24", "192.168.6.0/24"]);
const all = aWorld({ meshes: [a, b], views });
const held = planOf(all, 1)
  .peers.map((peer) => heldAs(peer))
  .filter(({ source }) => source === "c2");

/** The second cluster without its connection, as the mesh sees it. */
function blind(mesh: Mesh): ConnectedMesh {
  const { connections, ...rest } = connected(mesh);
  const none: EntryConnection = { state: "unknown", reason: "SecretMissing" };
  return { ...rest, connections: new Map<ClusterName, EntryConnection>(connections).set(clusterName("c2"), none) };
}

function changes(meshes: readonly ConnectedMesh[], three: ClusterView, overrides: Partial<World> = {}) {
  const hub = aView([aNode(1, 0)], { peers: known(held) });
  const world = aWorld({ views: [hub, views[1], three], overrides: { meshes, ...overrides } });
  return diffPeers(planOf(world, 1)).filter((change) => change.action !== "create");
}

const reportOf = (key: string, ip: string): string => JSON.stringify({ [key]: { IP: ip, Port: 4500 } });
const routes = (texts: readonly string[]) => texts.map((text) => ({ text }));
const own = ["10.2.0.0/24", "10.200.2.1/32"];

describe("the share of an owner in a Peer that another one wants", () => {
  it("is as it was while the owner cannot see the cluster", () => {
    expect(held).toMatchObject([{ owners: [a.id, b.id], allowedIps: expect.arrayContaining(["192.168.5.0/24"]) }]);
    expect(changes([connected(a), blind(b)], views[2])).toEqual([]);
  });

  it("is as it was while the mesh of the owner is not accepted", () => {
    expect(changes([connected(a)], views[2], { refused: new Set([b.id]) })).toEqual([]);
  });

  it.each<[string, ClusterView]>([
    ["known", views[2]],
    ["unknown", lost],
  ])("goes when the owner drops the cluster, though another cluster of its mesh is %s", (_, three) => {
    const dropped = connected(over("b", ["c1", "c3"]));
    expect(changes([connected(a), dropped], three)).toMatchObject([
      { action: "update", peer: { owners: [a.id], routes: routes(own) } },
    ]);
  });

  it("loses what the owner declares no more, also while the owner cannot see the cluster", () => {
    const revoked = blind(over("b", ["c1", "c2", "c3"], ["192.168.6.0/24"]));
    expect(changes([connected(a), revoked], views[2])).toMatchObject([
      { action: "update", peer: { owners: [a.id, b.id], routes: routes([...own, "192.168.6.0/24"]) } },
    ]);
  });

  it("is as it was also where the one that wants it declares those routes for the target", () => {
    const strict = over("b", ["c1", "c2"]);
    const barring = strict.entries.map((entry) =>
      entry.name === "c1" && entry.networks.form === "typed"
        ? { ...entry, networks: { ...entry.networks, clusterWide: networksIn(["192.168.5.0/24"]) } }
        : entry,
    );
    const giving = over("a", ["c1", "c2"], ["192.168.5.0/24"]);
    const meshes = [giving, { ...strict, createdAt: "2025-01-01T00:00:00Z", entries: barring }];
    const settled = planOf(aWorld({ meshes, views }), 1).peers.map((peer) => heldAs(peer));
    expect(settled).toMatchObject([{ allowedIps: [...own, "192.168.5.0/24"] }]);
    const hub = aView([aNode(1, 0)], { peers: known(settled) });
    const overrides = { meshes: meshes.slice(1).map((mesh) => connected(mesh)), refused: new Set([giving.id]) };
    expect(diffPeers(planOf(aWorld({ views: [hub, views[1]], overrides }), 1))).toEqual([]);
  });

  it("is as it was also where the node is met in it: no tunnel ends in what is routed into it", () => {
    const observed = new Map([[nodeName("c1-n0"), parseDiscovered(reportOf(aNode(2, 0).key, "192.168.5.9"))]]);
    const met = (peers: readonly HeldPeer[]) => aView([aNode(1, 0)], { peers: known(peers), observed });
    const before = planOf(aWorld({ meshes: [a, b], views: [met([]), ...views.slice(1)] }), 1);
    const settled = before.peers.map((peer) => heldAs(peer));
    const overrides = { meshes: [connected(a)], refused: new Set([b.id]) };
    const planned = planOf(aWorld({ views: [met(settled), ...views.slice(1)], overrides }), 1);
    expect(settled[0]?.allowedIps).toContain("192.168.5.0/24");
    expect(diffPeers(planned).filter((change) => change.action !== "create")).toEqual([]);
  });

  it("is as it was also where another node of the cluster is met in it, and two nodes say they have one key", () => {
    const { key } = aNode(2, 0);
    const two = aView([aNode(2, 0), aNode(2, 1, { key }), aNode(2, 2)]);
    const observed = new Map([[nodeName("c1-n0"), parseDiscovered(reportOf(aNode(2, 2).key, "192.168.5.9"))]]);
    const hub = (peers: readonly HeldPeer[]) => aView([aNode(1, 0)], { peers: known(peers), observed });
    const settled = planOf(aWorld({ meshes: [a, b], views: [hub([]), two, views[2]] }), 1).peers.map((peer) =>
      heldAs(peer),
    );
    const overrides = { meshes: [connected(a)], refused: new Set([b.id]) };
    const planned = planOf(aWorld({ views: [hub(settled), two, views[2]], overrides }), 1);
    expect(settled[0]?.allowedIps).toContain("192.168.5.0/24");
    expect(diffPeers(planned)).toEqual([]);
  });
});
