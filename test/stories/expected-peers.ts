import { createHash } from "node:crypto";
import { isIPv4 } from "node:net";
import { type EntryFacts, type Facts, type Letter, type MeshFacts, meshIdOf, type NodeFacts } from "./facts.ts";

/** A Peer as it has to be, worked out from the story's own facts and from nothing of the operator. */
export interface ExpectedPeer {
  readonly name: string;
  /** Whose: the home of the meshes that want it. */
  readonly home: Letter;
  readonly mesh: string;
  readonly source: string;
  readonly node: string;
  readonly owners: string;
  readonly publicKey: string;
  /** Sorted as text. */
  readonly allowedIPs: readonly string[];
  readonly endpoint: string;
  readonly persistentKeepalive: number;
}

/** What our operators have to hold in a cluster, by name. */
export function expectedPeers(facts: Facts, target: Letter): ExpectedPeer[] {
  const homes = [...new Set(facts.meshes.map(({ home }) => home))];
  return homes.flatMap((home) => expectedOf(facts, home, target)).sort((a, b) => (a.name < b.name ? -1 : 1));
}

function expectedOf(facts: Facts, home: Letter, target: Letter): ExpectedPeer[] {
  const byKey = new Map<string, ExpectedPeer>();
  for (const wanted of wantedIn(facts, home, target)) {
    const first = byKey.get(wanted.publicKey);
    byKey.set(wanted.publicKey, first ? united(first, wanted) : wanted);
  }
  const nameOf = ({ publicKey, name }: ExpectedPeer): string =>
    facts.names[`${target} ${publicKey}`] ?? facts.names[publicKey] ?? name;
  return [...byKey.values()].map((peer) => ({ ...peer, name: nameOf(peer) }));
}

function wantedIn(facts: Facts, home: Letter, target: Letter): ExpectedPeer[] {
  return facts.meshes
    .filter((mesh) => mesh.home === home && mesh.entries.some(({ cluster }) => cluster === target))
    .sort((a, b) => (meshIdOf(a) < meshIdOf(b) ? -1 : 1))
    .flatMap((mesh) =>
      mesh.entries
        .filter(({ cluster }) => cluster !== target)
        .flatMap((entry) => nodesOf(facts, entry).map((node) => peerOf({ facts, mesh, entry, node }))),
    );
}

/** The nodes of an entry that are to be peered, by name: those with Kilo that live in its networks. */
export function nodesOf({ nodes }: Pick<Facts, "nodes">, entry: EntryFacts): NodeFacts[] {
  return nodes
    .filter((node) => node.cluster === entry.cluster && !skipReasonOf(entry, node))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Why a node of an entry is not to be peered; nothing for one that is. */
export function skipReasonOf({ networks }: EntryFacts, { podCIDR, bare }: NodeFacts): string | undefined {
  const pods = "allowedNetworks" in networks ? networks.allowedNetworks : networks.podCIDRs;
  if (!pods.some((network) => covers(network, podCIDR))) return "NodePodCIDROutOfRange";
  return bare ? "NodeNoWireguardIP" : undefined;
}

interface Wish {
  readonly facts: Facts;
  readonly mesh: MeshFacts;
  readonly entry: EntryFacts;
  readonly node: NodeFacts;
}

function peerOf({ facts, mesh, entry, node }: Wish): ExpectedPeer {
  const carrier = facts.carriers[entry.cluster] ?? nodesOf(facts, entry)[0]?.name;
  const host = "allowedNetworks" in entry.networks ? [`${node.internalIp}/32`] : [];
  const shared = node.name === carrier ? sharedNetworks(facts, entry) : [];
  const keepalive = Math.max(0, ...mesh.entries.map(({ persistentKeepalive = 0 }) => persistentKeepalive));
  return {
    name: `${mesh.name}--${entry.name}--${node.name}`,
    home: mesh.home,
    mesh: mesh.name,
    source: entry.name,
    node: node.name,
    owners: meshIdOf(mesh),
    publicKey: node.key,
    allowedIPs: [node.podCIDR, `${node.wireguardIp}/32`, ...host, ...shared].sort(),
    endpoint: node.endpoint || node.kiloEndpoint,
    persistentKeepalive: node.endpoint ? keepalive : Math.max(keepalive, 25),
  };
}

/** The networks that no node owns. Flat form: those in which no node has anything. */
function sharedNetworks(facts: Facts, entry: EntryFacts): string[] {
  const { networks } = entry;
  if (!("allowedNetworks" in networks)) return networks.serviceCIDR ? [networks.serviceCIDR] : [];
  const own = nodesOf(facts, entry).flatMap((node) => [node.podCIDR, node.wireguardIp, node.internalIp]);
  return networks.allowedNetworks.filter((network) => !own.some((address) => covers(network, address)));
}

function united(first: ExpectedPeer, other: ExpectedPeer): ExpectedPeer {
  return {
    ...first,
    owners: [...new Set([...first.owners.split(","), ...other.owners.split(",")])].sort().join(","),
    allowedIPs: [...new Set([...first.allowedIPs, ...other.allowedIPs])].sort(),
    persistentKeepalive: Math.max(first.persistentKeepalive, other.persistentKeepalive),
  };
}

/** The name of a Peer whose own name is occupied by another key. */
export function suffixedName(name: string, key: string): string {
  return `${name}-${createHash("sha256").update(key).digest("hex").slice(0, 8)}`;
}

export const overlap = (one: string, other: string): boolean => covers(one, other) || covers(other, one);

/** Whether an IPv4 network covers an address or another network. */
function covers(network: string, other: string): boolean {
  const [base = "", length = "32"] = network.split("/");
  const [address = "", otherLength = "32"] = other.split("/");
  const shift = 2 ** (32 - Number(length));
  return Number(otherLength) >= Number(length) && Math.floor(bits(base) / shift) === Math.floor(bits(address) / shift);
}

function bits(address: string): number {
  if (!isIPv4(address)) throw new Error(`not an IPv4 address: ${address}`);
  return address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
}
