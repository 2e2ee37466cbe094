import { type Cidr, contains } from "./cidr.ts";
import type { JudgedSource } from "./judge.ts";
import type { KeptPeer } from "./kept.ts";
import { type MeshNode, ownRoutes } from "./node.ts";
import { type HeldPeer, routesOf } from "./peer.ts";
import { addressOf } from "./sight.ts";

/** The networks of an entry that no node owns. Flat form: those in which no node has anything of its own. */
export function clusterWideOf({ entry: { networks }, admitted }: JudgedSource): readonly Cidr[] {
  if (networks.form === "typed") return networks.clusterWide;
  const own = admitted.flatMap(ownRoutes);
  return networks.allowed.filter((network) => !own.some((cidr) => contains(network, cidr)));
}

export interface CarrierContext {
  /** The Peer of ours that holds each key. */
  readonly heldByKey: ReadonlyMap<string, HeldPeer>;
  readonly kept: readonly KeptPeer[];
  /** The keys of Peers that are not ours. */
  readonly foreignKeys: ReadonlySet<string>;
  /** The addresses of the names that could be resolved. */
  readonly resolved: ReadonlyMap<string, readonly string[]>;
}

/**
 * The node whose Peer carries the cluster-wide networks: the one that carries them already, else the first by name, those
 * that can have a Peer here before others, and of them those that were heard before those that fell silent. None while a
 * Peer of this source that is kept carries them: a network can ride on exactly one Peer, and moving it costs every node of
 * the target a session.
 */
export function carrierOf(source: JudgedSource, context: CarrierContext): MeshNode | undefined {
  const { heldByKey, kept } = context;
  const networks = clusterWideOf(source);
  if (networks.length === 0) return undefined;
  const carries = (held: HeldPeer | undefined): boolean => {
    const there = routesOf(held);
    return networks.some((network) => there.covers(network));
  };
  const { admitted, view } = source;
  const able = admitted.filter((node) => mayHavePeer(node, context));
  const heard = able.find(({ name }) => !view?.silent.has(name));
  const carried = admitted.find(({ publicKey }) => carries(heldByKey.get(publicKey)));
  if (carried) return view?.silent.has(carried.name) ? (heard ?? carried) : carried;
  const isOfSource = ({ held }: KeptPeer): boolean =>
    held.source === source.source && held.owners.includes(source.mesh) && carries(held);
  return kept.some(isOfSource) ? undefined : (heard ?? able[0] ?? admitted[0]);
}

/** Not while somebody else's Peer has its key, or the name of its endpoint has no answer, unless it has one already. */
function mayHavePeer({ publicKey, endpoint }: MeshNode, { heldByKey, foreignKeys, resolved }: CarrierContext): boolean {
  if (heldByKey.has(publicKey)) return true;
  return !foreignKeys.has(publicKey) && addressOf(endpoint, undefined, resolved) !== undefined;
}
