import fc from "fast-check";
import { networksIn } from "../../src/core/cidr.ts";
import { diffPeers, type PeerChange } from "../../src/core/diff.ts";
import { parseDiscovered } from "../../src/core/discovered.ts";
import { clusterName, type NodeName, nodeName } from "../../src/core/ids.ts";
import { declaredNetworks } from "../../src/core/mesh.ts";
import { keptMark } from "../../src/core/move.ts";
import type { NodeFacts } from "../../src/core/node.ts";
import { oncePer } from "../../src/core/once-per.ts";
import { nextPhase } from "../../src/core/order.ts";
import type { HeldPeer } from "../../src/core/peer.ts";
import { permitted } from "../../src/core/permitted.ts";
import { roamingKeepaliveSeconds } from "../../src/core/sight.ts";
import type { ClusterView, ConnectedMesh, World } from "../../src/core/world.ts";
import { aKey, aMesh, aNode, aView, aWorld, connected, heldAs, known, planOf, unknown } from "./build.ts";

export const numbers = [1, 2, 3] as const;

/** How a node differs from an ordinary one. */
const oddities: readonly Partial<NodeFacts>[] = [
  {},
  {},
  { key: aKey("c1-n0") },
  { key: "", wireguardIp: "" },
  { wireguardIp: "10.200.1.1/24" },
  { podCidrs: ["10.1.0.0/25", "10.1.0.128/25"] },
  { podCidrs: ["10.77.0.0/24"] },
  { internalIps: ["172.16.0.2", "172.16.0.3"] },
  { internalIps: ["10.2.0.7"] },
  { forceEndpoint: "gw.example.org:7" },
  { clustermeshEndpoint: "gw.example.org:7" },
  { clustermeshEndpoint: "192.0.2.9:1" },
  { forceEndpoint: "", kiloEndpoint: "192.168.3.4:51820" },
  { forceEndpoint: "" },
  { forceEndpoint: "10.3.0.9:51820" },
  { granularity: "location", location: "x" },
  { granularity: "location", location: "x", wireguardIp: "" },
];
const places = ["203.0.113.1:1", "203.0.113.2:2", "198.51.100.1:7", "192.0.2.9:1", "198.51.100.10:51820"] as const;

const aNodeLike = fc.record({
  odd: fc.constantFrom(...oddities),
  presence: fc.constantFrom("listed", "listed", "listed", "departing", "unproven", "gone"),
  isSilent: fc.boolean(),
});
const aCluster = fc.record({
  nodes: fc.array(aNodeLike, { maxLength: 4 }),
  isKnown: fc.constantFrom(true, true, true, false),
});

/** What somebody does to a Peer behind our back. */
const edits: Readonly<Record<string, (held: HeldPeer) => Partial<HeldPeer>>> = {
  routes: () => ({ allowedIps: ["10.1.0.0/24", "10.2.0.0/16", "0.0.0.0/0"] }),
  endpoint: () => ({ endpoint: undefined }),
  keepalive: () => ({ keepaliveSeconds: 7 }),
  moving: () => ({ move: "dropped 203.0.113.1:1", keepaliveSeconds: 0 }),
  met: () => ({ declared: "none" }),
  legacy: () => ({ instance: "", owners: [], node: nodeName(""), declared: "" }),
  foreign: () => ({ instance: "", owners: [], node: nodeName(""), mesh: "", source: clusterName("") }),
  offered: () => ({ instance: "", owners: [], node: nodeName(""), mesh: "", source: clusterName(""), offered: true }),
  copy: ({ name }) => ({ name: `z-${name}` as HeldPeer["name"] }),
};

export const aState = fc.record({
  clusters: fc.tuple(aCluster, aCluster, aCluster),
  isFlat: fc.boolean(),
  keepalive: fc.constantFrom(0, 0, 25, 10),
  extra: fc.constantFrom<readonly string[]>([], ["10.0.0.0/16"], ["172.16.0.0/24"]),
  second: fc.constantFrom("none", "valid", "refused", "older", "newer"),
  addresses: fc.constantFrom<readonly string[]>(["198.51.100.1"], ["198.51.100.2"], []),
  met: fc.array(fc.record({ by: fc.nat(2), of: fc.nat(2), node: fc.nat(3), at: fc.constantFrom(...places) }), {
    maxLength: 6,
  }),
  edits: fc.array(fc.record({ in: fc.nat(2), peer: fc.nat(5), what: fc.constantFrom(...Object.keys(edits)) }), {
    maxLength: 3,
  }),
});
export type State = typeof aState extends fc.Arbitrary<infer Value> ? Value : never;

// Facts that are the same are the same objects, as they are where watches keep them.
const meshFor = oncePer((entry: string) => connected(aMesh(3, JSON.parse(entry))));
const other = connected(aMesh(2, { additionalCIDRs: ["192.168.77.0/24"] }, "other"));
/** A mesh of the first and the third cluster that declares for them what others have. */
const rivalOf = (name: string): ConnectedMesh => {
  const mesh = aMesh(3, {}, name);
  const more: Readonly<Record<string, readonly string[]>> = {
    c1: ["10.2.1.0/24", "172.16.3.0/30"],
    c3: ["10.2.0.0/24", "203.0.113.0/31", "198.51.100.16/28"],
  };
  const entries = mesh.entries.filter(({ name: cluster }) => cluster in more);
  const greedy = entries.map(({ networks, ...entry }) => {
    const allowed = [...declaredNetworks({ ...entry, networks }), ...networksIn(more[entry.name] ?? [])];
    return { ...entry, networks: { form: "flat", allowed } as const };
  });
  return connected({ ...mesh, entries: greedy });
};
/** Of meshes of one age the name decides. */
const rivals: Readonly<Record<string, ConnectedMesh>> = { older: rivalOf("a-rival"), newer: rivalOf("z-rival") };
const nodeFor = oncePer((cluster: number) =>
  oncePer((number: number) => oncePer((odd: Partial<NodeFacts>) => aNode(cluster, number, odd))),
);
const answersFor = oncePer((addresses: string) => new Map(addresses ? [["gw.example.org", addresses.split(",")]] : []));
const silentFor = oncePer((names: string) => new Set(names ? names.split(",").map(nodeName) : []));

/** Three clusters, and an operator that does what its plans say. */
export class Scene {
  readonly held: HeldPeer[][] = [[], [], []];
  /** What was not ours when somebody last did something. */
  foreign: readonly (readonly HeldPeer[])[] = [];

  world(state: State, isFresh = false): World {
    const { isFlat, extra, keepalive, second, addresses } = state;
    const networks = isFlat
      ? { allowedNetworks: ["10.1.0.0/16", "10.200.1.0/24", ...extra] }
      : { additionalCIDRs: extra };
    const first = meshFor(JSON.stringify({ ...networks, persistentKeepalive: keepalive }));
    return aWorld({
      views: numbers.map((_, index) => this.#view(state, index, isFresh)),
      overrides: {
        meshes: [first, second === "valid" ? other : (rivals[second] ?? [])].flat(),
        refused: new Set(second === "refused" ? [other.mesh.id] : []),
        resolved: answersFor(addresses.join()),
      },
    });
  }

  changes(state: State, index: number, isFresh = false): readonly PeerChange[] {
    const world = this.world(state, isFresh);
    const plan = planOf(world, index + 1);
    return nextPhase(permitted(world, plan, diffPeers(plan)));
  }

  /** Writes what is to be written next into one cluster. */
  advance(state: State, index: number): void {
    for (const change of this.changes(state, index)) this.#write(index, change);
  }

  /** The number of rounds until nothing is left to write. */
  settle(state: State): number {
    for (let round = 0; round < 40; round++) {
      const before = this.held.map((list) => list);
      for (const [index] of numbers.entries()) this.advance(state, index);
      if (this.held.every((list, index) => list === before[index])) return round;
    }
    return Number.POSITIVE_INFINITY;
  }

  edit({ edits: wanted }: State): void {
    for (const { in: index, peer, what } of wanted) {
      const list = this.held[index] ?? [];
      const held = list[peer % Math.max(1, list.length)];
      if (held) this.#put(index, { ...held, ...edits[what]?.(held) });
    }
    this.foreign = this.held.map((list) => list.filter(isForeign));
  }

  #view({ clusters, met }: State, index: number, isFresh: boolean): ClusterView {
    const { nodes = [], isKnown = true } = clusters[index] ?? {};
    const all = nodes.map((like, number) => ({ ...like, facts: nodeFor(index + 1)(number)(like.odd) }));
    const listed = all.filter(({ presence }) => presence === "listed").map(({ facts }) => facts);
    const departing = all.filter(({ presence }) => presence === "departing");
    const silent = all.filter(({ isSilent }) => isSilent && !isFresh).map(({ facts }) => facts.name);
    const held = this.held[index] ?? [];
    const ages = new Map(isFresh ? [] : held.map(({ name }) => [name, 3_600_000]));
    return aView(listed, {
      nodes: isKnown ? known(listed) : unknown,
      peers: known(held),
      departures: departing.map(({ facts: { name } }) => ({ name, afterMs: 5000, needsList: false })),
      silent: silentFor(silent.join()),
      absenceProven: all.every(({ presence }) => presence !== "unproven"),
      observed: observedIn(met.filter(({ by }) => by === index)),
      moveAgesMs: ages,
      endpointAgesMs: ages,
    });
  }

  #write(index: number, change: PeerChange): void {
    if (change.action === "delete") this.held[index] = this.#without(index, change.held.name);
    else if (change.action === "shrink") this.#put(index, shrunk(change.held, change.routes));
    else this.#put(index, heldAs(change.peer, "held" in change && isBare(change) ? { endpoint: undefined } : {}));
  }

  #put(index: number, peer: HeldPeer): void {
    this.held[index] = [...this.#without(index, peer.name), peer];
  }

  #without(index: number, name: string): HeldPeer[] {
    return (this.held[index] ?? []).filter((peer) => peer.name !== name);
  }
}

const isForeign = ({ instance, mesh, offered }: HeldPeer): boolean => instance === "" && mesh === "" && !offered;

const isBare = ({ peer, held }: Extract<PeerChange, { action: "update" }>): boolean =>
  peer.mayLackEndpoint && !held.endpoint;

function shrunk(held: HeldPeer, allowedIps: readonly string[]): HeldPeer {
  const move = keptMark(held.move);
  return { ...held, allowedIps, ...(move && { move, keepaliveSeconds: roamingKeepaliveSeconds }) };
}

function observedIn(met: State["met"]): ClusterView["observed"] {
  const observed = new Map<NodeName, ReturnType<typeof parseDiscovered>>();
  for (const [index, { of, node, at }] of met.entries()) {
    const [ip, port] = at.split(":");
    const report = JSON.stringify({ [aKey(`c${of + 1}-n${node}`)]: { IP: ip, Port: Number(port) } });
    observed.set(nodeName(`n${index}`), parseDiscovered(report));
  }
  return observed;
}
