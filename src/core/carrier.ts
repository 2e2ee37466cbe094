import { type Cidr, contains } from "./cidr.ts";
import type { JudgedSource } from "./judge.ts";
import type { KeptPeer } from "./kept.ts";
import { type MeshNode, ownRoutes } from "./node.ts";
import { type HeldPeer, routesOf } from "./peer.ts";

/** The networks of an entry that no node owns. Flat form: those in which no node has anything of its own. */
export function clusterWideOf({ entry: { networks }, admitted }: JudgedSource): readonly Cidr[] {
  if (networks.form === "typed") return networks.clusterWide;
  const own = admitted.flatMap(ownRoutes);
  return networks.allowed.filter((network) => !own.some((cidr) => contains(network, cidr)));
}

/**
 * The node whose Peer carries the cluster-wide networks: the one that carries them already, else the first by name, those
 * that were heard before those that fell silent. None while a Peer of this source that is kept carries them: a network can
 * ride on exactly one Peer, and moving it costs every node of the target a session.
 */
export function carrierOf(
  source: JudgedSource,
  heldByKey: ReadonlyMap<string, HeldPeer>,
  kept: readonly KeptPeer[],
): MeshNode | undefined {
  const networks = clusterWideOf(source);
  if (networks.length === 0) return undefined;
  const carries = (held: HeldPeer | undefined): boolean => {
    const there = routesOf(held);
    return networks.some((network) => there.covers(network));
  };
  const { admitted, view } = source;
  const healthy = admitted.find(({ name }) => !view?.silent.has(name));
  const carried = admitted.find(({ publicKey }) => carries(heldByKey.get(publicKey)));
  if (carried) return view?.silent.has(carried.name) ? (healthy ?? carried) : carried;
  const isOfSource = ({ held }: KeptPeer): boolean =>
    held.source === source.source && held.owners.includes(source.mesh) && carries(held);
  return kept.some(isOfSource) ? undefined : (healthy ?? admitted[0]);
}
