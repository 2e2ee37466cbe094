import fc from "fast-check";
import { type Cidr, parseCidr, parseIp } from "../../src/core/cidr.ts";
import { diffPeers } from "../../src/core/diff.ts";
import { parseDiscovered } from "../../src/core/discovered.ts";
import { type Endpoint, endpointAt, hostText } from "../../src/core/endpoint.ts";
import { meshId, nodeName } from "../../src/core/ids.ts";
import { declaredNetworks, type Mesh, type MeshEntry, overlapsWithin } from "../../src/core/mesh.ts";
import type { NodeFacts } from "../../src/core/node.ts";
import { oncePer } from "../../src/core/once-per.ts";
import type { HeldPeer, Peer } from "../../src/core/peer.ts";
import type { KnownPlan } from "../../src/core/plan.ts";
import { speakFor, twinsOf } from "../../src/core/twins.ts";
import { aKey, aMesh, aNode, aView, aWorld, heldAs, known, planOf, unknown } from "./build.ts";

/** Cluster 1 is the hub of both meshes, cluster 2 is the victim's, cluster 3 the tenant's, whose nodes say anything. */
export const [hub, victims, tenants] = [1, 2, 3] as const;
export const hubNodes = [aNode(hub, 0), aNode(hub, 1)];
/** The second is behind a NAT, where the hub's nodes have met it. */
const victimNodes = [aNode(victims, 0), aNode(victims, 1, { forceEndpoint: "", kiloEndpoint: "192.168.3.4:51820" })];
export const met = parseDiscovered(JSON.stringify({ [aKey("c2-n1")]: { IP: "203.0.113.1", Port: 4500 } }));

export const cidrs = (...texts: string[]): Cidr[] => texts.flatMap((text) => parseCidr(text) ?? []);
export const flat = (entry: MeshEntry): MeshEntry => ({
  ...entry,
  networks: { form: "flat", allowed: declaredNetworks(entry) },
});

export function meshOf(id: Mesh["id"], clusters: readonly number[], overrides: Partial<Mesh> = {}): Mesh {
  const mesh = aMesh(3);
  const [namespace = "", name = ""] = id.split("/");
  const entries = mesh.entries.filter((entry) => clusters.includes(Number(entry.name.slice(1))));
  return { ...mesh, id, namespace, name, entries, createdAt: "2024-01-01T00:00:00Z", ...overrides };
}

export const victim = meshOf(meshId("kilo-system", "victim"), [hub, victims]);
const flatVictim: Mesh = { ...victim, entries: victim.entries.map(flat) };
export const aVictim = fc.constantFrom(victim, flatVictim);

/** Its name comes first wherever names decide. */
export const tenantId = meshId("aaa", "tenant");
export const aTenant = fc
  .record({ isFlat: fc.boolean(), createdAt: fc.constantFrom("2020-01-01T00:00:00Z", "2025-01-01T00:00:00Z") })
  .map(({ isFlat, createdAt }): Mesh => {
    const mesh = meshOf(tenantId, [hub, tenants], { createdAt });
    return isFlat ? { ...mesh, entries: mesh.entries.map(flat) } : mesh;
  });

/** What a tenant may write into its mesh: what is others', what nobody has, what no machine can have. */
const declaration = fc.oneof(
  fc.constantFrom("10.2.0.0/16", "10.2.0.0/24", "10.2.7.0/24", "10.200.2.0/24", "10.200.2.8/32", "172.16.2.0/24"),
  fc.constantFrom("203.0.113.0/24", "198.51.100.0/25", "198.51.100.96/28", "192.168.3.0/24", "172.16.1.0/24"),
  fc.constantFrom("10.1.1.0/24", "10.1.7.0/24", "169.254.0.0/16", "0.0.0.0/1", "10.96.0.0/12", "10.0.0.0/8"),
  fc.tuple(fc.ipV4(), fc.integer({ min: 1, max: 32 })).map(([ip, prefix]) => `${ip}/${prefix}`),
);
const declarations = fc.array(declaration, { maxLength: 4 }).map((texts) => cidrs(...texts));
export const form = fc.constantFrom("flat", "pods", "additional");

/** An entry that declares more; nothing of it twice, which would be refused. */
function declaring(entry: MeshEntry, more: readonly Cidr[], as: "flat" | "pods" | "additional"): MeshEntry {
  const { networks } = entry;
  if (networks.form === "flat") return entry;
  if (as === "pods") return { ...entry, networks: { ...networks, pods: [...networks.pods, ...more] } };
  const typed = { ...entry, networks: { ...networks, clusterWide: more } };
  return as === "flat" ? flat(typed) : typed;
}

/** A tenant that forges its mesh as well, for its own cluster and for the hub. */
export const aForger = fc
  .record({
    createdAt: fc.constantFrom("2020-01-01T00:00:00Z", "2025-01-01T00:00:00Z"),
    forHub: fc.tuple(declarations, form),
    forOwn: fc.tuple(declarations, form),
  })
  .map(({ createdAt, forHub, forOwn }): Mesh => {
    const mesh = meshOf(tenantId, [hub, tenants], { createdAt });
    const entries = mesh.entries.map((entry) => declaring(entry, ...(entry.name === "c1" ? forHub : forOwn)));
    return { ...mesh, entries };
  })
  .filter((mesh) => overlapsWithin(mesh).length === 0);
export const aNewForger = aForger.map((mesh): Mesh => ({ ...mesh, createdAt: "2025-01-01T00:00:00Z" }));

export const addresses = [
  "10.3.0.9",
  "10.2.0.9",
  "10.2.7.7",
  "10.1.0.9",
  "10.200.2.1",
  "172.16.1.1",
  "172.16.2.1",
  "192.168.3.4",
  "203.0.113.1",
];
const address = fc.oneof(fc.constantFrom(...addresses), fc.ipV4(), fc.ipV6());
const network = fc.oneof(
  fc.constantFrom("10.3.0.0/24", "10.3.9.0/24", "10.3.0.0/16", "10.2.0.0/24", "10.2.7.0/24", "10.1.0.0/24"),
  fc.constantFrom("0.0.0.0/0", "::/0", "10.0.0.0/8", "10.2.0.0/15", "10.3.0.77/24", "nonsense", ""),
  fc.tuple(fc.ipV4(), fc.integer({ min: 0, max: 33 })).map(([ip, prefix]) => `${ip}/${prefix}`),
);
export const endpoint = fc.oneof(
  fc.constantFrom("", "198.51.100.31:51820", "198.51.100.20:51820", "172.16.1.1:51820", "10.2.0.1:1", "evil.test:7"),
  address.map((ip) => (ip.includes(":") ? `[${ip}]:51820` : `${ip}:51820`)),
  fc.string(),
);
export const key = fc.oneof(
  fc.constantFrom(...["c3-n0", "c3-n1", "c2-n0", "c2-n1", "c2-n9", "c1-n0"].map(aKey)),
  fc.constantFrom("", "not a key"),
);

/** A node that claims what is its own, what is others', and nonsense. */
const aForgery: fc.Arbitrary<NodeFacts> = fc
  .record({
    name: fc.constantFrom("c3-n0", "c3-n1", "c3-n2", "c2-n0", "c1-n0").map(nodeName),
    podCidrs: fc.array(network, { maxLength: 3 }),
    wireguardIp: fc.oneof(fc.constantFrom("10.200.3.1/24", "10.200.3.2/24", "10.200.2.1/24", "10.200.1.1/32"), network),
    key,
    clustermeshEndpoint: fc.oneof(fc.constant(""), endpoint),
    forceEndpoint: endpoint,
    kiloEndpoint: endpoint,
    granularity: fc.constantFrom("full", "location", "cross", "?"),
    location: fc.constantFrom("", "here", "there"),
    externalIps: fc.array(address, { maxLength: 2 }),
    internalIps: fc.array(address, { maxLength: 3 }),
    keepalive: fc.constantFrom("", "1", "-1"),
    uid: fc.constantFrom("uid-tenant", "uid-c1-n0", "uid-c2-n0", "uid-c2-n1", ""),
  })
  .map((facts) => aNode(tenants, 0, facts));

/** Well-formed enough to be admitted, so that forgeries do get as far as routes and keys. */
const aPlausible = aForgery.map((node) => ({
  ...node,
  podCidrs: ["10.3.0.0/24", ...node.podCidrs],
  wireguardIp: "10.200.3.1/24",
  forceEndpoint: "198.51.100.31:51820",
  clustermeshEndpoint: "",
}));

export const forgeries = fc.uniqueArray(fc.oneof(aForgery, aPlausible), {
  minLength: 1,
  maxLength: 4,
  selector: ({ name }) => name,
});

/** What the tenant's nodes say they have met: every key anywhere. */
export const observations = fc
  .dictionary(key, fc.tuple(address, fc.constantFrom(51820, 4500, 0)), { maxKeys: 4 })
  .map((met) => {
    const entries = Object.entries(met).map(([of, [IP, Port]]) => [of, { IP, Port }]);
    return JSON.stringify(Object.fromEntries(entries));
  });

interface Scene {
  readonly meshes: readonly Mesh[];
  readonly held?: readonly HeldPeer[];
  readonly theirs?: readonly NodeFacts[];
  readonly forged?: readonly NodeFacts[];
  readonly isVictimAway?: boolean;
  /** Meshes that exist and cannot be used as they are. */
  readonly refused?: readonly Mesh[];
  /** From where the hub's nodes have met the tenant's first node, and others. */
  readonly seen?: ReadonlyMap<string, Endpoint>;
  /** What the tenant's nodes say they have met. */
  readonly discovered?: string;
}

export function planFor(target: number, scene: Scene): KnownPlan {
  const { meshes, held = [], theirs = victimNodes, forged = [], isVictimAway, refused = [] } = scene;
  const { seen = met, discovered = "" } = scene;
  const peers = known(held);
  const views = [
    aView(hubNodes, { observed: new Map([[nodeName("c1-n0"), seen]]), ...(target === hub && { peers }) }),
    aView(theirs, { ...(target === victims && { peers }), ...(isVictimAway && { nodes: unknown }) }),
    // Its API server has an authority of its own: what it says of UIDs makes it nobody else.
    aView(forged, { trust: "tenant", observed: new Map([[nodeName("c3-n0"), parseDiscovered(discovered)]]) }),
  ];
  const resolved = new Map([["evil.test", ["10.2.0.1", "10.2.7.1"]]]);
  const world = aWorld({ meshes, views, overrides: { resolved, refused: new Set(refused.map(({ id }) => id)) } });
  const twins = twinsOf(world.clusters);
  return planOf({ ...world, twins, meshes: speakFor(world.meshes, twins) }, target);
}

export const aloneOf = oncePer((mesh: Mesh) => planFor(hub, { meshes: [mesh] }).peers);
export const alone = aloneOf(victim);
export const stored = (peers: readonly Peer[]): HeldPeer[] =>
  peers.map((peer, index) => heldAs(peer, { uid: `u${index}`, resourceVersion: "1" }));
export const visible = ({ name, publicKey, endpoint: at, routes, keepaliveSeconds, owners, mesh, source }: Peer) => ({
  name,
  publicKey,
  endpoint: `${hostText(at)}:${at.port}`,
  routes: routes.map(({ text }) => text),
  keepaliveSeconds,
  owners,
  mesh,
  source,
});
export const ofVictim = (peers: readonly Peer[]) =>
  peers.filter(({ owners }) => owners.includes(victim.id)).map(visible);

/** Where the hub's nodes have met the tenant's keys: packets that carry a forged sender are enough for that. */
const forgedSender = address.map((ip) => {
  const at = parseIp(ip);
  return new Map([...met, ...(at ? [[aKey("c3-n0"), endpointAt(at, 4500)] as const] : [])]);
});

export const pretences = fc.record({ forged: forgeries, seen: forgedSender, discovered: observations });

export const hostTextOf = (ip: string): string => (ip.includes(":") ? `${ip}/128` : `${ip}/32`);

export const touchedOf = (plan: KnownPlan) =>
  diffPeers(plan).filter((change) => "held" in change && change.held.owners.includes(victim.id));

/** What the hub holds after the plan was carried out. */
export const heldAfter = ({ peers, kept }: KnownPlan): HeldPeer[] => [
  ...stored(peers),
  ...kept.map(({ held }) => held),
];
