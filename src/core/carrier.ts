import { type Cidr, contains, networksIn } from "./cidr.ts";
import type { Helds } from "./holding.ts";
import type { NodeName } from "./ids.ts";
import type { MeshEntry } from "./mesh.ts";
import { type MeshNode, ownRoutes } from "./node.ts";
import { type HeldPeer, routesOf } from "./peer.ts";
import { addressOf, type Resolved } from "./sight.ts";

export interface CarrierInput {
  readonly entry: MeshEntry;
  readonly admitted: readonly MeshNode[];
  /** Of each of them. */
  readonly helds: Helds;
  readonly silent: ReadonlySet<NodeName>;
  /** Peers of this source that are only kept. */
  readonly kept: readonly HeldPeer[];
  /** Those of the nodes' keys that somebody else's Peers hold. */
  readonly foreignKeys: readonly string[];
  readonly resolved: Resolved;
}

/**
 * The networks of an entry that no node owns. Flat form: those in which no node has anything of its own, nor a Peer that is
 * kept: a restart of Kilo on the only node of a network must not cost the target two changes.
 */
export function clusterWideOf({ entry: { networks }, admitted, kept }: CarrierInput): readonly Cidr[] {
  if (networks.form === "typed") return networks.clusterWide;
  const own = [...admitted.flatMap(ownRoutes), ...kept.flatMap(({ allowedIps }) => networksIn(allowedIps))];
  return networks.allowed.filter((network) => !own.some((cidr) => contains(network, cidr)));
}

/**
 * The node whose Peer carries the cluster-wide networks: the one that carries them already, else the first by name, those
 * that can have a Peer here before others, and of them those that were heard before those that fell silent. None while a
 * Peer of this source that is kept carries them: a network can ride on exactly one Peer, and moving it costs every node of
 * the target a session.
 */
export function carrierOf(input: CarrierInput): MeshNode | undefined {
  const networks = clusterWideOf(input);
  if (networks.length === 0) return undefined;
  const carries = (held: HeldPeer | undefined): boolean => {
    const there = routesOf(held);
    return networks.some((network) => there.covers(network));
  };
  const { admitted, helds, silent, kept } = input;
  const carried = admitted[helds.findIndex(carries)];
  if (carried && !silent.has(carried.name)) return carried;
  const first = new Map(admitted.toReversed().map((node) => [node.publicKey, node]));
  const able = admitted.filter((node, index) => mayHavePeer(first.get(node.publicKey) ?? node, helds[index], input));
  const heard = able.find(({ name }) => !silent.has(name));
  if (carried) return heard ?? carried;
  return kept.some(carries) ? undefined : (heard ?? able[0] ?? admitted[0]);
}

/**
 * Not while somebody else's Peer has its key, or the name of its endpoint has no answer, unless it has one already. Of several
 * nodes with one key the first is asked: there is one Peer for all of them, and it is where that one is.
 */
function mayHavePeer(
  { publicKey, endpoint }: MeshNode,
  held: HeldPeer | undefined,
  { foreignKeys, resolved }: CarrierInput,
): boolean {
  if (held) return true;
  return !foreignKeys.includes(publicKey) && addressOf(endpoint, undefined, resolved) !== undefined;
}
