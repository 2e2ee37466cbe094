import type { SeenPeer } from "../api/api-ports.ts";
import type { Peer } from "../discovery/roster.ts";
import type { LinkInfo } from "./link.ts";
import type { PeerState } from "./peer-state.ts";

export interface Seen {
  readonly roster: readonly Peer[];
  readonly states: readonly PeerState[];
  readonly links: readonly LinkInfo[];
}

/** Everybody this node knows: who is wanted, who was told to stay away, and who came by itself. Sorted by id. */
export function seenPeers({ roster, states, links }: Seen): SeenPeer[] {
  const wanted = new Set(states.map(({ peer }) => peer.id));
  const known = new Set([...wanted, ...roster.map(({ id }) => id)]);
  return [
    ...states.map(wantedPeer),
    ...roster.filter(({ id }) => !wanted.has(id)).map(dismissedPeer),
    ...links.filter(({ peer }) => !known.has(peer)).map(uninvitedPeer),
  ].sort((one, other) => (one.id < other.id ? -1 : 1));
}

function wantedPeer({ peer, progress }: PeerState): SeenPeer {
  const reason = progress.kind === "waiting" ? progress.reason : undefined;
  return { ...shownOf(peer), state: progress.kind, ...(reason !== undefined && { reason }) };
}

function dismissedPeer(peer: Peer): SeenPeer {
  return { ...shownOf(peer), state: "disconnected" };
}

function uninvitedPeer({ peer, address }: LinkInfo): SeenPeer {
  return { id: peer, addresses: address === undefined ? [] : [address], origin: "connected", state: "linked" };
}

function shownOf({ id, addresses, name, origin }: Peer) {
  return { id, addresses, ...(name !== undefined && { name }), origin };
}
