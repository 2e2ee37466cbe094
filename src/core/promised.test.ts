import { describe, expect, it } from "vitest";
import { aMesh, aNode, aView, aWorld, connected, heldAs, known, planOf, unknown } from "../../test/support/build.ts";
import { networksIn } from "./cidr.ts";
import { diffPeers, type PeerChange } from "./diff.ts";
import { parseDiscovered } from "./discovered.ts";
import { hostText } from "./endpoint.ts";
import { type ClusterName, clusterName, meshId, nodeName } from "./ids.ts";
import { declaredNetworks, type Mesh, type MeshEntry } from "./mesh.ts";
import type { NodeFacts } from "./node.ts";
import type { HeldPeer } from "./peer.ts";
import type { EntryConnection, World } from "./world.ts";

const asFlat = (typed: Mesh): Mesh => ({
  ...typed,
  entries: typed.entries.map((entry) => ({
    ...entry,
    networks: { form: "flat", allowed: declaredNetworks(entry) },
  })),
});
const mesh = asFlat(aMesh(3));

const answers: World["resolved"] = new Map([["gw.test", ["10.2.0.9"]]]);

function plan(
  facts: Partial<NodeFacts>,
  { meshes = [mesh], held = [] as readonly HeldPeer[], resolved = answers } = {},
) {
  const views = [aView([aNode(1, 0)], { peers: known(held) }), aView([aNode(2, 0)]), aView([aNode(3, 0, facts)])];
  return planOf(aWorld({ meshes, views, overrides: { resolved } }), 1);
}

const routesOf = (planned: ReturnType<typeof plan>, source: string): string[] =>
  planned.peers.filter((peer) => peer.source === source).flatMap(({ routes }) => routes.map(({ text }) => text));

describe("an address that another cluster is declared to have", () => {
  const usual = routesOf(plan({}), "c2");

  it("is no route to a node that says it is its own", () => {
    const planned = plan({ internalIps: ["10.2.0.9", "172.16.3.1"] });
    expect(routesOf(planned, "c3")).toEqual(["10.3.0.0/24", "10.200.3.1/32", "172.16.3.1/32"]);
    expect(routesOf(planned, "c2")).toEqual(usual);
  });

  it.each(["10.2.0.9:51820", "gw.test:51820"])("is no endpoint: %s keeps no route of that cluster out", (endpoint) => {
    const planned = plan({ forceEndpoint: endpoint });
    const peer = planned.peers.find(({ source }) => source === "c3");
    expect(peer).toMatchObject({ endpoint: { host: { ip: "192.0.2.1" }, port: 51820 }, keepaliveSeconds: 25 });
    expect(routesOf(planned, "c2")).toEqual(usual);
  });

  it("is no endpoint also while the name that leads there has no answer, as after a start", () => {
    const facts = { forceEndpoint: "gw.test:51820" };
    const held = plan(facts).peers.map((peer) => heldAs(peer));
    expect(diffPeers(plan(facts, { held, resolved: new Map() }))).toEqual([]);
  });

  it("stays where it is on a Peer: declaring it later takes it from nobody", () => {
    const only: Mesh = { ...mesh, entries: mesh.entries.filter(({ name }) => name !== "c2") };
    const facts = { internalIps: ["10.2.0.9"], forceEndpoint: "10.2.7.7:51820" };
    const held = plan(facts, { meshes: [only] }).peers.map((peer) => heldAs(peer));
    const planned = plan(facts, { held });
    expect(routesOf(planned, "c3")).toContain("10.2.0.9/32");
    expect(planned.peers.find(({ source }) => source === "c3")?.endpoint).toMatchObject({ host: { ip: "10.2.7.7" } });
  });
});

/** The first mesh joins clusters 1 and 2, the other one 1 and 3, each in its own words. */
interface Two {
  readonly ages?: readonly [string, string];
  /** What the other one declares for its cluster besides. */
  readonly more?: readonly string[];
  readonly isFirstFlat?: boolean;
}

const [longAgo, lately] = ["2020-01-01T00:00:00Z", "2025-01-01T00:00:00Z"];

function twoMeshes({ ages = [longAgo, lately], more = [], isFirstFlat = false }: Two = {}): [Mesh, Mesh] {
  const part = (name: string, clusters: readonly string[], createdAt: string): Mesh => ({
    ...aMesh(3),
    ...{ id: meshId("kilo-system", name), name, createdAt },
    entries: aMesh(3).entries.filter((entry) => clusters.includes(entry.name)),
  });
  const first = part("first", ["c1", "c2"], ages[0]);
  const other = part("other", ["c1", "c3"], ages[1]);
  const withMore = other.entries.map((entry): MeshEntry => {
    if (entry.name !== "c3" || entry.networks.form === "flat") return entry;
    return { ...entry, networks: { ...entry.networks, clusterWide: networksIn(more) } };
  });
  return [isFirstFlat ? asFlat(first) : first, { ...other, entries: withMore }];
}

interface Hub {
  readonly held?: readonly HeldPeer[];
  readonly second?: readonly NodeFacts[];
  readonly third?: readonly NodeFacts[];
  /** Where its node has met public keys. */
  readonly met?: Readonly<Record<string, string>>;
  readonly overrides?: Partial<World>;
}

function planHub(meshes: readonly Mesh[], { held = [], second = [aNode(2, 0)], third, met = {}, overrides }: Hub = {}) {
  const report = Object.entries(met).map(([key, ip]) => [key, { IP: ip, Port: 4500 }]);
  const observed = new Map([[nodeName("c1-n0"), parseDiscovered(JSON.stringify(Object.fromEntries(report)))]]);
  const views = [aView([aNode(1, 0)], { peers: known(held), observed }), aView(second), aView(third ?? [])];
  return planOf(aWorld({ meshes, views, ...(overrides && { overrides }) }), 1);
}

const stored = ({ peers }: ReturnType<typeof planHub>): HeldPeer[] => peers.map((peer) => heldAs(peer));
const endpointOf = ({ peers }: ReturnType<typeof planHub>, node: string): string => {
  const peer = peers.find((one) => one.node === node);
  return peer ? hostText(peer.endpoint) : "no Peer";
};
const touched = (planned: ReturnType<typeof planHub>): PeerChange[] =>
  diffPeers(planned).filter(({ action }) => action !== "create");
const nowhere = "192.0.2.1";

describe("an endpoint that a Peer has", () => {
  const behindNat = aNode(2, 1, { forceEndpoint: "", kiloEndpoint: "192.168.3.4:51820" });
  const met = { [behindNat.key]: "203.0.113.1" };

  it("stays when another mesh declares the network it is in, which does not get that network", () => {
    const meshes = twoMeshes({ more: ["203.0.113.0/24"] });
    const hub = { second: [aNode(2, 0), behindNat], met };
    const planned = planHub(meshes, { ...hub, held: stored(planHub(meshes.slice(0, 1), hub)), third: [aNode(3, 0)] });
    expect(endpointOf(planned, "c2-n1")).toBe("203.0.113.1");
    expect(routesOf(planned, "c3")).toEqual(["10.3.0.0/24", "10.200.3.1/32"]);
    expect(touched(planned)).toEqual([]);
  });

  it("stays as it is where the node was met, also when an older mesh declares where the node says it is", () => {
    const meshes = twoMeshes({ ages: [lately, longAgo], more: ["198.51.100.0/25"] });
    const hub = { met: { [aNode(2, 0).key]: "203.0.113.1" } };
    const planned = planHub(meshes, { ...hub, held: stored(planHub(meshes.slice(0, 1), hub)), third: [aNode(3, 9)] });
    expect(endpointOf(planned, "c2-n0")).toBe("203.0.113.1");
    expect(touched(planned)).toEqual([]);
  });

  it("gives way where it only stands until the node is met, and another cluster comes to that network", () => {
    const [first, { entries }] = twoMeshes({ more: ["192.168.3.0/24"] });
    const joined = { ...first, entries: [...first.entries, ...entries.slice(1)] };
    const hub = { second: [behindNat] };
    const planned = planHub([joined], { ...hub, held: stored(planHub([first], hub)), third: [aNode(3, 0)] });
    expect([endpointOf(planned, "c2-n1"), routesOf(planned, "c3")]).toEqual([
      nowhere,
      ["10.3.0.0/24", "10.200.3.1/32", "192.168.3.0/24"],
    ]);
  });
});

describe("an endpoint that stands on a Peer of two meshes until the node is met", () => {
  it("stays when the older one loses the cluster: the other gains nothing of what was kept out", () => {
    const [older] = twoMeshes();
    const [, { entries }] = twoMeshes({ more: ["192.168.3.0/24"] });
    const newer = { ...aMesh(3), createdAt: lately, entries: [...older.entries, ...entries.slice(1)] };
    const second = [aNode(2, 1, { forceEndpoint: "", kiloEndpoint: "192.168.3.4:51820" })];
    const third = [aNode(3, 0)];
    const before = planHub([older, newer], { second, third });
    expect(endpointOf(before, "c2-n1")).toBe("192.168.3.4");
    expect(routesOf(before, "c3")).not.toContain("192.168.3.0/24");
    const { connections, ...rest } = connected(older);
    const lost: EntryConnection = { state: "unknown", reason: "SecretMissing" };
    const blind = {
      ...rest,
      connections: new Map<ClusterName, EntryConnection>(connections).set(clusterName("c2"), lost),
    };
    const overrides = { meshes: [blind, connected(newer)] };
    expect(touched(planHub([], { held: stored(before), second, third, overrides }))).toEqual([]);
  });
});

describe("an endpoint that a Peer would get", () => {
  it("is there for the node of an older mesh, whatever a newer one declares", () => {
    const meshes = twoMeshes({ more: ["198.51.100.0/25"] });
    expect(endpointOf(planHub(meshes, { third: [aNode(3, 0)] }), "c2-n0")).toBe("198.51.100.20");
  });

  it("is there for a node that an older and a newer mesh share, whatever they are called", () => {
    const [first, other] = twoMeshes({ more: ["198.51.100.0/25"] });
    const newest = { ...first, id: meshId("kilo-system", "a"), name: "a", createdAt: "2026-01-01T00:00:00Z" };
    expect(endpointOf(planHub([first, other, newest], { third: [aNode(3, 0)] }), "c2-n0")).toBe("198.51.100.20");
  });

  it("is not there for the node of a newer mesh, in what an older one declares", () => {
    const meshes = twoMeshes({ ages: [lately, longAgo], more: ["198.51.100.0/28"] });
    const second = [aNode(2, 0, { forceEndpoint: "198.51.100.3:51820" })];
    expect(endpointOf(planHub(meshes, { second, third: [aNode(3, 0)] }), "c2-n0")).toBe(nowhere);
  });

  it("is not there in a network that a newer mesh has for itself: what has begun may grow", () => {
    const meshes = twoMeshes({ ages: [lately, longAgo] });
    const third = [aNode(3, 0, { forceEndpoint: "10.2.7.7:51820" })];
    const held = stored(planHub(meshes.slice(0, 1)));
    expect(endpointOf(planHub(meshes, { held, third }), "c3-n0")).toBe(nowhere);
  });

  it("is not there where a Peer of another cluster has a route, declared or not", () => {
    const meshes = twoMeshes({ isFirstFlat: true });
    const third = [aNode(3, 0, { forceEndpoint: "172.16.2.1:51820" })];
    const planned = planHub(meshes, { held: stored(planHub(meshes.slice(0, 1))), third });
    expect(endpointOf(planned, "c3-n0")).toBe(nowhere);
    expect(touched(planned)).toEqual([]);
  });

  it.each(["its Secret is missing", "its mesh is refused"])(
    "is not there where a kept Peer of another cluster has a route: %s",
    (what) => {
      const [first, other] = twoMeshes();
      const held = stored(planHub([first]));
      const lost = { state: "unknown", reason: "SecretMissing" } as const;
      const [c2] = first.entries.filter(({ name }) => name === "c2").map(({ name }) => name);
      const connections = new Map(connected(first).connections).set(c2 ?? expect.unreachable(), lost);
      const overrides =
        what === "its mesh is refused"
          ? { meshes: [connected(other)], refused: new Set([first.id]) }
          : { meshes: [{ ...connected(first), connections }, connected(other)] };
      const third = [aNode(3, 0, { forceEndpoint: "10.2.0.1:51820" })];
      expect(endpointOf(planHub([], { held, third, overrides }), "c3-n0")).toBe(nowhere);
    },
  );

  it("is not there where a name led before, when others have come there since and the name has no answer", () => {
    const [first, other] = twoMeshes({ more: [] });
    const third = [aNode(3, 0, { forceEndpoint: "gw.test:51820" })];
    const met = { [aNode(3, 0).key]: "203.0.113.7" };
    const resolved = new Map([["gw.test", ["10.2.0.1"]]]);
    const before = stored(planHub([other], { third, met, overrides: { resolved } }));
    expect(before[0]?.declared).toBe("10.2.0.1:51820");
    const held = stored(planHub([first, other], { held: before, third, met, overrides: { resolved } }));
    const silent = planHub([first, other], { held, third });
    expect(endpointOf(silent, "c3-n0")).not.toBe("10.2.0.1");
    expect(touched(silent).filter((change) => "held" in change && change.held.source === "c2")).toEqual([]);
  });
});

describe("an address of a node that its entry does not declare", () => {
  it("is routed for an older mesh, whatever a newer one declares and does not use", () => {
    const meshes = twoMeshes({ isFirstFlat: true, more: ["172.16.2.0/24"] });
    const planned = planHub(meshes, { third: [aNode(3, 0)] });
    expect(routesOf(planned, "c2")).toContain("172.16.2.1/32");
  });

  it("is not routed because a cluster is lost that has nodes in the network, though no Peer yet", () => {
    const meshes = twoMeshes({ isFirstFlat: true, more: ["172.16.0.0/16"] });
    const nameless = [aNode(3, 0, { forceEndpoint: "gw.test:51820" })];
    const before = planHub(meshes, { third: nameless });
    expect(routesOf(before, "c2")).not.toContain("172.16.2.1/32");
    const hub = aView([aNode(1, 0)], { peers: known(stored(before)) });
    const views = [hub, aView([aNode(2, 0)]), aView([], { nodes: unknown })];
    expect(diffPeers(planOf(aWorld({ meshes, views }), 1))).toEqual([]);
  });

  it("is not routed into what a mesh uses of a cluster that it has lost, while another mesh still has its Peers", () => {
    const [first, other] = twoMeshes({ isFirstFlat: true, more: ["172.16.0.0/16"] });
    const also = { ...twoMeshes()[1], id: meshId("kilo-system", "also"), name: "also", createdAt: lately };
    const before = planHub([first, other, also], { third: [aNode(3, 0)] });
    expect(routesOf(before, "c2")).not.toContain("172.16.2.1/32");
    const { connections, ...rest } = connected(other);
    const lost: EntryConnection = { state: "unknown", reason: "SecretMissing" };
    const blind = {
      ...rest,
      connections: new Map<ClusterName, EntryConnection>(connections).set(clusterName("c3"), lost),
    };
    const overrides = { meshes: [connected(first), blind, connected(also)] };
    expect(touched(planHub([], { held: stored(before), third: [aNode(3, 0)], overrides }))).toEqual([]);
  });

  it("is not routed into what a cluster uses that cannot be seen now, also where two meshes have two names for it", () => {
    const [first, typed] = twoMeshes({ isFirstFlat: true, more: ["172.16.0.0/16"] });
    const other = asFlat(typed);
    const called = clusterName("a");
    const renamed = twoMeshes()[1].entries.map((entry) => (entry.name === "c3" ? { ...entry, name: called } : entry));
    const alias = { ...other, id: meshId("kilo-system", "alias"), name: "alias", entries: renamed };
    const { connections, ...rest } = connected(other);
    const there = connections.get(clusterName("c3")) ?? expect.unreachable();
    const meshes = [connected(other), { ...rest, mesh: alias, connections: new Map(connections).set(called, there) }];
    const held = stored(planHub([], { third: [aNode(3, 0)], overrides: { meshes } }));
    expect(held).toMatchObject([{ source: called, owners: [alias.id, other.id] }]);
    const all = { meshes: [connected(first), ...meshes] };
    expect(routesOf(planHub([], { held, third: [aNode(3, 0)], overrides: all }), "c2")).not.toContain("172.16.2.1/32");
    const views = [aView([aNode(1, 0)], { peers: known(held) }), aView([aNode(2, 0)]), aView([], { nodes: unknown })];
    const planned = planOf(aWorld({ views, overrides: all }), 1);
    expect(routesOf(planned, "c2")).not.toContain("172.16.2.1/32");
  });
});
