import type { EndpointId } from "../identity.ts";
import type { SkipReason } from "../reasons.ts";
import type { Member } from "./member.ts";
import { compareText } from "./text-order.ts";

/** Somebody we want a link to. */
export interface Peer {
  readonly id: EndpointId;
  /** `ip:port`, sorted, each once. */
  readonly addresses: readonly string[];
  readonly name?: string;
  /** A static peer that is discovered too stays static: it does not leave with its pod. */
  readonly origin: "static" | "kubernetes" | "mdns";
  /** False: a link that exists is kept, a new one is not made. */
  readonly dialable: boolean;
}

export interface StaticPeer {
  readonly id: EndpointId;
  /** `ip:port`; empty while its host name is not resolved. */
  readonly addresses: readonly string[];
}

export interface Self {
  readonly id: EndpointId;
  readonly podName?: string;
}

export interface RosterInput {
  readonly self: Self;
  readonly members: readonly Member[];
  readonly staticPeers: readonly StaticPeer[];
  /** Absent without a shared key. */
  readonly derive?: (podName: string) => EndpointId;
}

export interface Skipped {
  readonly name: string;
  readonly reason: SkipReason;
}

/** All wanted peers, sorted by id, each id once; and who was left out. */
export interface Roster {
  readonly peers: readonly Peer[];
  readonly skipped: readonly Skipped[];
}

export type RosterEvent =
  | { readonly kind: "found"; readonly peer: Peer }
  | { readonly kind: "updated"; readonly peer: Peer; readonly was: Peer }
  | { readonly kind: "lost"; readonly peer: Peer };

/** Who we want a link to. The order of the input does not matter. */
export function buildRoster(input: RosterInput): Roster {
  const peers = new Map<EndpointId, Peer>();
  const skipped: Skipped[] = [];
  for (const { id, addresses } of input.staticPeers)
    if (id !== input.self.id) add(peers, { id, addresses, origin: "static", dialable: true });
  for (const member of input.members.toSorted(byName)) {
    const identity = identify(member, input);
    if ("reason" in identity) skipped.push({ name: member.name, reason: identity.reason });
    else add(peers, peerOf(member, identity.id));
  }
  return { peers: [...peers.values()].sort((one, other) => compareText(one.id, other.id)), skipped };
}

/** What has to be told to come from one list of peers to the other; nothing when they are equal. */
export function diffRoster(before: readonly Peer[], after: readonly Peer[]): readonly RosterEvent[] {
  const was = new Map(before.map((peer) => [peer.id, peer]));
  const is = new Set(after.map(({ id }) => id));
  const lost = before.filter(({ id }) => !is.has(id)).map((peer): RosterEvent => ({ kind: "lost", peer }));
  const rest = after.flatMap((peer): RosterEvent[] => {
    const old = was.get(peer.id);
    if (!old) return [{ kind: "found", peer }];
    return samePeer(old, peer) ? [] : [{ kind: "updated", peer, was: old }];
  });
  return [...lost, ...rest];
}

type Identity = { readonly id: EndpointId } | { readonly reason: SkipReason };

/** A declared identity comes before the derived one. A pod with our name is us, whatever was declared of it. */
function identify(member: Member, { self, derive }: RosterInput): Identity {
  if (member.isPod && member.name === self.podName) return { reason: "IsSelf" };
  if (member.endpointId === self.id) return { reason: "IsSelf" };
  if (member.problem) return { reason: member.problem };
  if (member.addresses.length === 0) return { reason: "NoAddress" };
  const id = member.endpointId ?? (member.isPod ? derive?.(member.name) : undefined);
  if (!id) return { reason: "NoIdentity" };
  return id === self.id ? { reason: "IsSelf" } : { id };
}

function peerOf({ name, addresses, origin, dialable }: Member, id: EndpointId): Peer {
  return { id, name, addresses, origin, dialable };
}

/** Only the holder of the key answers, so that an address too many costs nothing and one too few a link. */
function add(peers: Map<EndpointId, Peer>, peer: Peer): void {
  const known = peers.get(peer.id);
  const name = known?.name ?? peer.name;
  peers.set(peer.id, {
    id: peer.id,
    ...(name !== undefined && { name }),
    addresses: [...new Set([...(known?.addresses ?? []), ...peer.addresses])].sort(),
    origin: known?.origin ?? peer.origin,
    dialable: peer.dialable || (known?.dialable ?? false),
  });
}

function samePeer(one: Peer, other: Peer): boolean {
  return JSON.stringify(fieldsOf(one)) === JSON.stringify(fieldsOf(other));
}

function fieldsOf({ id, name, addresses, origin, dialable }: Peer) {
  return [id, name ?? null, origin, dialable, ...addresses];
}

function byName(one: Member, other: Member): number {
  return compareText(one.name, other.name) || compareText(one.addresses.join(), other.addresses.join());
}
