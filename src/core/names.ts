import type { PeerName } from "./ids.ts";
import type { HeldPeer, Peer } from "./peer.ts";

export interface NamesInput {
  readonly wanted: readonly Peer[];
  readonly held: readonly HeldPeer[];
  readonly instance: string;
  readonly digest: (text: string) => string;
}

/**
 * Settles the name of each wanted Peer. A Peer is its key: while the key is wanted, the Peer of ours that holds it keeps
 * its name. A newcomer takes the name it was rendered with; where that is occupied, a suffix made of its key.
 */
export function chooseNames({ wanted, held, instance, digest }: NamesInput): Peer[] {
  const ours = held.filter((peer) => peer.instance === instance);
  const nameByKey = new Map(ours.map(({ publicKey, name }) => [publicKey, name]));
  const heldByName = new Map(held.map((peer) => [peer.name, peer]));
  const used = new Set(wanted.flatMap(({ publicKey }) => nameByKey.get(publicKey) ?? []));
  return wanted.map((peer) => {
    const kept = nameByKey.get(peer.publicKey);
    if (kept) return { ...peer, name: kept };
    const occupied = used.has(peer.name) || !mayTake(heldByName.get(peer.name), peer, instance);
    const name = occupied ? (`${peer.name}-${digest(peer.publicKey).slice(0, 8)}` as PeerName) : peer.name;
    used.add(name);
    return { ...peer, name };
  });
}

/** A node that got a new key keeps its Peer; any other Peer of that name is somebody else's. */
function mayTake(held: HeldPeer | undefined, peer: Peer, instance: string): boolean {
  return !held || (held.instance === instance && held.source === peer.source && held.node === peer.node);
}
