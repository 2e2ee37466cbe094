import fc from "fast-check";
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
import { diffPeers } from "./diff.ts";
import { type ConnectionId, clusterName, meshId, nodeName, type PeerName } from "./ids.ts";
import { strippedGraceMs } from "./kept.ts";
import type { NodeFacts } from "./node.ts";
import type { HeldPeer } from "./peer.ts";
import { planTarget } from "./plan.ts";
import type { ClusterView, ConnectedMesh } from "./world.ts";

const mesh = aMesh(2, { serviceCIDR: "10.96.0.0/12" });
const nodesOf = (cluster: number, count = 2): NodeFacts[] =>
  Array.from({ length: count }, (_, index) => aNode(cluster, index));

/** Cluster 2 as the target, holding what it should, and then changed. */
function afterSync(change: { one?: Partial<ClusterView>; meshes?: readonly (typeof mesh)[]; held?: HeldPeer[] } = {}) {
  const before = aWorld({ meshes: [mesh], views: [aView(nodesOf(1)), aView(nodesOf(2))] });
  const held = change.held ?? planOf(before, 2).peers.map((peer) => heldAs(peer));
  const views = [aView(nodesOf(1), change.one), aView(nodesOf(2), { peers: known(held) })];
  const world = aWorld({ meshes: change.meshes ?? [mesh], views });
  const plan = planOf(world, 2);
  return { plan, held, changes: diffPeers(plan) };
}

describe("what a target should hold", () => {
  it("is a Peer for each node of every other cluster, named as the Go operator names it", () => {
    const world = aWorld({ meshes: [aMesh(3)], views: [aView(nodesOf(1)), aView(nodesOf(2)), aView(nodesOf(3))] });
    expect(planOf(world, 2).peers.map(({ name }) => name)).toEqual([
      "my-mesh--c1--c1-n0",
      "my-mesh--c1--c1-n1",
      "my-mesh--c3--c3-n0",
      "my-mesh--c3--c3-n1",
    ]);
  });

  it("routes the node's pods and its WireGuard address, and the service network on one Peer only", () => {
    const { plan } = afterSync();
    expect(plan.peers.map(({ routes }) => routes.map(({ text }) => text))).toEqual([
      ["10.1.0.0/24", "10.96.0.0/12", "10.200.1.1/32"],
      ["10.1.1.0/24", "10.200.1.2/32"],
    ]);
  });

  it("carries the largest keepalive of the mesh on every Peer", () => {
    const views = [aView(nodesOf(1)), aView(nodesOf(2))];
    const world = aWorld({ meshes: [aMesh(2, { persistentKeepalive: 25 })], views });
    expect(
      [1, 2].flatMap((target) => planOf(world, target).peers.map(({ keepaliveSeconds }) => keepaliveSeconds)),
    ).toEqual([25, 25, 25, 25]);
  });

  it("is the same for any order of nodes and meshes", () => {
    const meshes = [mesh, aMesh(2, { additionalCIDRs: ["192.168.7.0/24"] }, "other")];
    const expected = planOf(aWorld({ meshes, views: [aView(nodesOf(1, 5)), aView(nodesOf(2, 3))] }), 2);
    const shuffled = <T>(items: readonly T[]) => fc.shuffledSubarray([...items], { minLength: items.length });
    fc.assert(
      fc.property(shuffled(nodesOf(1, 5)), shuffled(nodesOf(2, 3)), shuffled(meshes), (ones, twos, order) => {
        const plan = planOf(aWorld({ meshes: order, views: [aView(ones), aView(twos)] }), 2);
        expect(plan.peers).toEqual(expected.peers);
      }),
    );
  });

  it("gives a name that two meshes want to the same of them, whichever comes first", () => {
    const [, two, three] = aMesh(3).entries;
    if (!two || !three) throw new Error("a mesh of three has three entries");
    const namesake = { ...mesh, id: meshId("z", "my-mesh"), entries: [{ ...three, name: clusterName("c1") }, two] };
    const leads = { ...connected(mesh), mesh: namesake, connections: new Map(connected(mesh).connections) };
    leads.connections.set(clusterName("c1"), { state: "connected", id: conn(3) });
    const views = [aView([aNode(1, 0)]), aView([aNode(2, 0)]), aView([aNode(3, 0, { name: nodeName("c1-n0") })])];
    const peersOf = (meshes: readonly ConnectedMesh[]) => planOf(aWorld({ views, overrides: { meshes } }), 2).peers;
    const expected = peersOf([connected(mesh), leads]);
    expect(expected.map(({ name }) => name.replace(/-[0-9a-f]{8}$/, ""))).toEqual(Array(2).fill("my-mesh--c1--c1-n0"));
    expect(peersOf([leads, connected(mesh)])).toEqual(expected);
  });

  it("is unknown while the target's own Peers are unknown", () => {
    const world = aWorld({ meshes: [mesh], views: [aView(nodesOf(1)), aView(nodesOf(2), { peers: unknown })] });
    expect(planTarget(world, conn(2)).state).toBe("unknown");
  });

  it("is one Peer with the routes of both where two meshes want one node", () => {
    const other = aMesh(2, { additionalCIDRs: ["192.168.7.0/24"] }, "other");
    const world = aWorld({ meshes: [mesh, other], views: [aView(nodesOf(1, 1)), aView(nodesOf(2))] });
    const { peers } = planOf(world, 2);
    expect(peers.map(({ owners }) => owners)).toEqual([["kilo-system/my-mesh", "kilo-system/other"]]);
    expect(peers[0]?.routes.map(({ text }) => text)).toContain("192.168.7.0/24");
  });
});

describe("what changes in a target that holds the plan", () => {
  it("is nothing while nothing changes", () => {
    expect(afterSync().changes).toEqual([]);
  });

  it("is one Peer more when a node joins", () => {
    const { changes } = afterSync({ one: { nodes: known(nodesOf(1, 3)) } });
    expect(changes.map(({ action }) => action)).toEqual(["create"]);
  });

  it("is nothing when its source cannot be seen", () => {
    const { changes, plan } = afterSync({ one: { nodes: unknown } });
    expect(changes).toEqual([]);
    expect(plan.kept.map(({ reason }) => reason)).toEqual(["SourceUnknown", "SourceUnknown"]);
  });

  it("is nothing while a node that was deleted may still register again", () => {
    const one = {
      nodes: known(nodesOf(1, 1)),
      departures: [{ name: nodeName("c1-n1"), afterMs: 12_000, needsList: false }],
    };
    const { changes, plan } = afterSync({ one });
    expect(changes).toEqual([]);
    expect(plan.kept).toMatchObject([{ reason: "NodeDeparting", afterMs: 12_000 }]);
  });

  it("is a deletion when the grace of a deleted node is over, whatever lists say", () => {
    const departures = [{ name: nodeName("c1-n1"), afterMs: 0, needsList: false }];
    const { changes } = afterSync({ one: { nodes: known(nodesOf(1, 1)), departures, absenceProven: false } });
    expect(changes).toMatchObject([{ action: "delete" }]);
  });

  it("is nothing while one list alone says that a node is gone", () => {
    const { changes, plan } = afterSync({ one: { nodes: known(nodesOf(1, 1)), absenceProven: false } });
    expect(changes).toEqual([]);
    expect(plan.kept).toMatchObject([{ reason: "WithdrawalHeld", proof: "local" }]);
  });

  it("is a deletion when it is proven that a node is gone", () => {
    const { changes } = afterSync({ one: { nodes: known(nodesOf(1, 1)) } });
    expect(changes).toMatchObject([{ action: "delete", held: { name: "my-mesh--c1--c1-n1" } }]);
  });

  it("is nothing while a restarting Kilo has taken its annotations off a node", () => {
    const bare = aNode(1, 1, { key: "", wireguardIp: "" });
    const { changes, plan } = afterSync({ one: { nodes: known([aNode(1, 0), bare]) } });
    expect(changes).toEqual([]);
    expect(plan.kept).toMatchObject([{ reason: "NodeNotReady" }]);
  });

  it("is a deletion when Kilo has stayed away from a node for minutes", () => {
    const bare = aNode(1, 1, { key: "", wireguardIp: "" });
    const strippedMs = new Map([[bare.name, strippedGraceMs]]);
    const { changes } = afterSync({ one: { nodes: known([aNode(1, 0), bare]), strippedMs } });
    expect(changes).toMatchObject([{ action: "delete", held: { node: "c1-n1" } }]);
  });

  it.each<[string, Partial<NodeFacts>]>([
    ["loses its external address", { forceEndpoint: "" }],
    ["gets an endpoint annotation that is none", { forceEndpoint: "nonsense" }],
    ["loses its pod CIDR", { podCidrs: [] }],
  ])("is nothing when a living node %s", (_, facts) => {
    const { changes, plan } = afterSync({ one: { nodes: known([aNode(1, 0), aNode(1, 1, facts)]) } });
    expect(changes).toEqual([]);
    expect(plan.kept).toMatchObject([{ reason: "NodeNotReady" }]);
  });

  it("is a deletion when the spec no longer covers a node", () => {
    const { changes } = afterSync({ one: { nodes: known([aNode(1, 0), aNode(1, 1, { podCidrs: ["10.9.0.0/24"] })]) } });
    expect(changes).toMatchObject([{ action: "delete", held: { node: "c1-n1" } }]);
  });

  it("is nothing for the incumbent when a newcomer has its WireGuard IP for a while", () => {
    const early = aNode(1, 9, { name: nodeName("a-first-by-name"), wireguardIp: aNode(1, 0).wireguardIp });
    const { changes, plan } = afterSync({ one: { nodes: known([early, ...nodesOf(1)]) } });
    expect(changes).toMatchObject([{ action: "create", peer: { node: "a-first-by-name" } }]);
    expect(plan.refused.map(({ claim }) => claim.route.text)).toEqual(["10.200.1.1/32"]);
  });

  it("is nothing for the routes of an owner of whom nothing is known, on a Peer that another wants too", () => {
    const other = aMesh(2, { additionalCIDRs: ["192.168.7.0/24"] }, "other");
    const both = aWorld({ meshes: [mesh, other], views: [aView(nodesOf(1)), aView(nodesOf(2))] });
    const held = planOf(both, 2).peers.map((peer) => heldAs(peer));
    const views = [aView(nodesOf(1)), aView(nodesOf(2), { peers: known(held) })];
    const world = aWorld({ meshes: [mesh], views, overrides: { refused: new Set([other.id]) } });
    expect(diffPeers(planOf(world, 2))).toEqual([]);
  });

  it("takes a revoked network also from the Peers of a source that cannot be seen", () => {
    const { held } = afterSync();
    const views = [aView([], { nodes: unknown }), aView(nodesOf(2), { peers: known(held) })];
    const plan = planOf(aWorld({ meshes: [aMesh(2)], views }), 2);
    expect(diffPeers(plan)).toMatchObject([
      { action: "shrink", held: { node: "c1-n0" }, routes: ["10.1.0.0/24", "10.200.1.1/32"] },
    ]);
  });

  it("is nothing when only the Peer that is kept carries the service network", () => {
    const bare = aNode(1, 0, { key: "", wireguardIp: "" });
    const { changes } = afterSync({ one: { nodes: known([bare, aNode(1, 1)]) } });
    expect(changes).toEqual([]);
  });

  it("gives a kept Peer's pod network to the node that has it now", () => {
    const heir = aNode(1, 5, { podCidrs: ["10.1.1.0/24"] });
    const departures = [{ name: nodeName("c1-n1"), afterMs: 9000, needsList: false }];
    const { changes } = afterSync({ one: { nodes: known([aNode(1, 0), heir]), departures } });
    expect(changes).toMatchObject([
      { action: "create", peer: { node: "c1-n5" } },
      { action: "shrink", held: { node: "c1-n1" }, routes: ["10.200.1.2/32"] },
    ]);
  });

  it("is a deletion of everything when the mesh is gone", () => {
    expect(afterSync({ meshes: [] }).changes.map(({ action }) => action)).toEqual(["delete", "delete"]);
  });

  it("is nothing when its mesh does not parse any more", () => {
    const before = afterSync();
    const views = [aView(nodesOf(1)), aView(nodesOf(2), { peers: known(before.held) })];
    const world = aWorld({ views, overrides: { refused: new Set([mesh.id]) } });
    expect(diffPeers(planOf(world, 2))).toEqual([]);
  });

  it("does not move the service network while the Peer that carries it stays", () => {
    const early = aNode(1, 9, { name: nodeName("a-first-by-name"), podCidrs: ["10.1.99.0/24"] });
    const { changes } = afterSync({ one: { nodes: known([early, ...nodesOf(1)]) } });
    expect(changes).toMatchObject([{ action: "create", peer: { node: "a-first-by-name" } }]);
  });
});

describe("a key and a name", () => {
  it("a node with a new key keeps its Peer's name", () => {
    const rekeyed = aNode(1, 1, { key: aKey("new") });
    const { changes } = afterSync({ one: { nodes: known([aNode(1, 0), rekeyed]) } });
    expect(changes).toMatchObject([{ action: "update", peer: { name: "my-mesh--c1--c1-n1", publicKey: aKey("new") } }]);
  });

  it("two nodes that exchange keys exchange Peers, and no key is ever on two", () => {
    const swapped = [aNode(1, 0, { key: aKey("c1-n1") }), aNode(1, 1, { key: aKey("c1-n0") })];
    const { plan } = afterSync({ one: { nodes: known(swapped) } });
    expect(new Set(plan.peers.map(({ name }) => name)).size).toBe(2);
    expect(plan.peers.map(({ node, name }) => [node, name])).toEqual([
      ["c1-n0", "my-mesh--c1--c1-n1"],
      ["c1-n1", "my-mesh--c1--c1-n0"],
    ]);
  });

  it("a newcomer whose name is taken gets a suffix made of its key", () => {
    const moved = [aNode(1, 0, { key: aKey("fresh") }), aNode(1, 1), aNode(1, 2, { key: aKey("c1-n0") })];
    const { plan } = afterSync({ one: { nodes: known(moved) } });
    const names = plan.peers.map(({ name }) => name);
    expect(new Set(names).size).toBe(3);
    expect(names.find((name) => /^my-mesh--c1--c1-n0-[0-9a-f]{8}$/.test(name))).toBeDefined();
  });

  it("a Peer that is not ours keeps its key, and we stay away", () => {
    const foreign = afterSync().held.map((peer) => ({ ...peer, instance: "" }));
    const { plan } = afterSync({ held: foreign });
    expect(plan.taken).toHaveLength(2);
    expect(plan.peers).toEqual([]);
  });

  it("a Peer of ours stays when somebody else writes one with its key later", () => {
    const { held } = afterSync();
    const foreign = held.map((peer) => ({
      ...peer,
      instance: "",
      name: `theirs-${peer.name}` as PeerName,
      owners: [],
    }));
    const { plan } = afterSync({ held: [...held, ...foreign] });
    expect(plan.taken).toEqual([]);
    expect(plan.peers.map(({ name }) => name)).toEqual(held.map(({ name }) => name));
  });

  it("the kept Peer of a mesh of the same name in another namespace is not taken over", () => {
    const { held } = afterSync();
    const theirs = held.map((peer, index) => ({
      ...peer,
      allowedIps: [`10.77.${index}.0/24`],
      owners: [meshId("team-b", "my-mesh")],
      publicKey: aKey(`b${peer.node}`),
    }));
    const world = aWorld({
      meshes: [mesh],
      views: [aView(nodesOf(1)), aView(nodesOf(2), { peers: known(theirs) })],
      overrides: { refused: new Set([meshId("team-b", "my-mesh")]) },
    });
    const plan = planOf(world, 2);
    expect(plan.kept.map(({ held: { name } }) => name)).toEqual(theirs.map(({ name }) => name));
    expect(plan.peers.map(({ name }) => name)).toEqual([
      expect.stringMatching(/^my-mesh--c1--c1-n0-[0-9a-f]{8}$/),
      expect.stringMatching(/^my-mesh--c1--c1-n1-[0-9a-f]{8}$/),
    ]);
  });
});

describe("a cluster that two meshes reach with different credentials", () => {
  it("keeps the Peers of the mesh that the other connection serves", () => {
    const before = afterSync();
    const twin = aWorld({
      meshes: [mesh],
      views: [aView(nodesOf(1)), aView(nodesOf(2), { peers: known(before.held) }), aView(nodesOf(2))],
    });
    const throughTwin = {
      ...twin,
      clusters: new Map([...twin.clusters, [conn(3), aView(nodesOf(2), { peers: known(before.held) })]]),
    };
    const plan = planOf(throughTwin, 3);
    expect(diffPeers(plan)).toEqual([]);
    expect(plan.kept.map(({ reason }) => reason)).toEqual(["OwnedElsewhere", "OwnedElsewhere"]);
  });

  it("keeps what each of them wants of one Peer, also when no authority vouches for both any more", () => {
    const others: readonly [string, ConnectionId][] = [
      ["c1", conn(1)],
      ["c2", conn(3)],
    ];
    const other = aMesh(2, { additionalCIDRs: ["192.168.7.0/24"], persistentKeepalive: 10 }, "other");
    const before = aWorld({ meshes: [mesh, other], views: [aView(nodesOf(1)), aView(nodesOf(2))] });
    const held = planOf(before, 2).peers.map((peer) => heldAs(peer));
    const peers = known(held);
    const apart = aWorld({
      views: [aView(nodesOf(1)), aView(nodesOf(2), { peers }), aView(nodesOf(2), { peers, trust: "another ca" })],
      overrides: {
        meshes: [
          connected(mesh),
          {
            ...connected(other),
            connections: new Map(others.map(([name, id]) => [clusterName(name), { state: "connected", id }])),
          },
        ],
      },
    });
    expect([2, 3].flatMap((target) => diffPeers(planOf(apart, target)))).toEqual([]);
  });
});
