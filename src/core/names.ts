import { type Holding, heldWithKey } from "./holding.ts";
import type { PeerName } from "./ids.ts";
import type { KeptPeer } from "./kept.ts";
import type { HeldPeer, Peer } from "./peer.ts";

export interface NamesInput {
  readonly wanted: readonly Peer[];
  readonly holding: Holding;
  readonly kept: readonly KeptPeer[];
  readonly digest: (text: string) => string;
}

const longestName = 253;

/**
 * Settles the name of each wanted Peer. A Peer is its key: while the key is wanted, the Peer of ours that holds it keeps
 * its name. A newcomer takes the name it was rendered with; where that is occupied, a suffix made of its key.
 */
export function chooseNames({ wanted, holding, kept, digest }: NamesInput): readonly Peer[] {
  const { held, ours } = holding;
  const nameOf = ({ publicKey }: Peer): PeerName | undefined => heldWithKey(holding, publicKey)?.name;
  const free = new Map(ours.map((peer) => [peer.name, peer]));
  for (const { held: peer } of kept) free.delete(peer.name);
  const occupied = new Set(held.map(({ name }) => name));
  const used = new Set(wanted.flatMap((peer) => nameOf(peer) ?? []));
  return wanted.map((peer) => {
    const own = nameOf(peer);
    if (own) return own === peer.name ? peer : { ...peer, name: own };
    const mayTake = !occupied.has(peer.name) || isSameNode(free.get(peer.name), peer);
    const name = mayTake && !used.has(peer.name) ? peer.name : suffixed(peer, digest);
    used.add(name);
    return name === peer.name ? peer : { ...peer, name };
  });
}

/** A node that got a new key keeps its Peer; any other Peer of that name is somebody else's. */
function isSameNode(held: HeldPeer | undefined, { source, node, owners }: Peer): boolean {
  return held?.source === source && held.node === node && held.owners.some((owner) => owners.includes(owner));
}

function suffixed({ name, publicKey }: Peer, digest: (text: string) => string): PeerName {
  return `${name.slice(0, longestName - 9)}-${digest(publicKey).slice(0, 8)}` as PeerName;
}
