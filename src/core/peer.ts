import { type Cidr, networksIn, uniqueRoutes } from "./cidr.ts";
import { type Endpoint, sameEndpoint } from "./endpoint.ts";
import type { ClusterName, MeshId, NodeName, PeerName, PublicKey } from "./ids.ts";
import { onceFor } from "./once-per.ts";
import { aggregate, rangesOf } from "./ranges.ts";
import { compareTexts, sameTexts } from "./texts.ts";

/** A Peer as we want it in a target. */
export interface Peer {
  readonly name: PeerName;
  readonly publicKey: PublicKey;
  readonly endpoint: Endpoint;
  /** Canonical, sorted, each once. */
  readonly routes: readonly Cidr[];
  readonly keepaliveSeconds: number;
  /** Name of the first owner, for the Go operator's label. */
  readonly mesh: string;
  readonly source: ClusterName;
  readonly node: NodeName;
  /** Every mesh that wants this Peer, sorted. */
  readonly owners: readonly MeshId[];
  /** Marked while a second Peer with its key is deleted; taking the mark off is the touch that Kilo needs. */
  readonly touchPending: boolean;
  /** Where the node says it is, when it was met elsewhere: there the endpoint is, or the Peer may follow. Else empty. */
  readonly declared: string;
  /** How far its move to another endpoint has come; empty when none is under way. */
  readonly move: string;
  /** The endpoint is an address that nobody needs: the target has met the node, and a Peer without one is as good. */
  readonly mayLackEndpoint: boolean;
  /** Routes of it and of other Peers lie inside each other: it has to hold them in just these pieces. */
  readonly inPieces: boolean;
}

/** A Peer that a target holds, ours or not, as text: people write them too. */
export interface HeldPeer {
  readonly name: PeerName;
  readonly uid: string;
  /** What was judged: a write that follows from it is refused when somebody was faster. */
  readonly resourceVersion: string;
  readonly instance: string;
  /** Written by the Go operator and not stamped by us yet. */
  readonly legacy?: boolean;
  /** Its deletion was asked for, and its finalizers keep it. */
  readonly isTerminating?: true;
  /** Its owner says that we may have it. */
  readonly offered: boolean;
  /** Its twin was deleted: Kilo takes notice of it again only when it is written once more. */
  readonly touchPending: boolean;
  readonly declared: string;
  readonly move: string;
  readonly mesh: string;
  readonly source: ClusterName;
  readonly node: NodeName;
  readonly owners: readonly MeshId[];
  readonly publicKey: string;
  readonly endpoint: Endpoint | undefined;
  readonly allowedIps: readonly string[];
  readonly keepaliveSeconds: number;
}

/**
 * All addresses that a Peer allows: it may hold them in other pieces than a claim for them. Nearly always it holds them as
 * they are asked for, and nothing has to be parsed.
 */
export function routesOf(held: HeldPeer | undefined): { covers: (route: Cidr) => boolean } {
  if (!held) return nothing;
  const { allowedIps } = held;
  return { covers: (route) => allowedIps.includes(route.text) || rangesOn(allowedIps).covers(route) };
}

const nothing = { covers: () => false };
const rangesOn = onceFor((allowedIps: readonly string[]) => rangesOf(networksIn(allowedIps)));

/** Who takes over the key of a Peer that was another mesh's has nothing of what is on it. */
export function isOwnPeer({ owners }: Pick<Peer, "owners">, held: HeldPeer | undefined): boolean {
  return held?.owners.some((owner) => owners.includes(owner)) ?? false;
}

/** True when writing `peer` over `held` would change nothing that we plan. */
export function samePeer(peer: Peer, held: HeldPeer): boolean {
  return samePeerSpec(peer, held) && samePeerMarks(peer, held);
}

/** What Kilo acts on. */
export function samePeerSpec(peer: Peer, held: HeldPeer): boolean {
  return (
    peer.publicKey === held.publicKey &&
    peer.keepaliveSeconds === held.keepaliveSeconds &&
    (sameEndpoint(peer.endpoint, held.endpoint) || (peer.mayLackEndpoint && !held.endpoint)) &&
    sameRoutes(peer, held)
  );
}

/** The same networks in any order, or the same addresses in more pieces than we would write. */
function sameRoutes({ routes, inPieces }: Peer, { allowedIps }: HeldPeer): boolean {
  const isVerbatim =
    routes.length === allowedIps.length && routes.every(({ text }, index) => text === allowedIps[index]);
  if (isVerbatim) return true;
  const planned = textsOf(routes);
  if (sameTexts([...planned].sort(), [...allowedIps].sort())) return true;
  return !inPieces && sameTexts(planned, textsOf(heldAggregate(allowedIps)));
}

const textsOf = (cidrs: readonly Cidr[]): string[] => cidrs.map(({ text }) => text);

/** Nothing for a list that holds what is no network: that is to be written anew. */
function heldAggregate(allowedIps: readonly string[]): Cidr[] {
  const cidrs = networksIn(allowedIps);
  return cidrs.length === allowedIps.length ? aggregate(cidrs) : [];
}

function samePeerMarks(peer: Peer, held: HeldPeer): boolean {
  return (
    peer.mesh === held.mesh &&
    peer.source === held.source &&
    peer.node === held.node &&
    peer.touchPending === held.touchPending &&
    peer.declared === held.declared &&
    peer.move === held.move &&
    !held.legacy &&
    sameTexts(peer.owners, held.owners)
  );
}

/**
 * One Peer per public key, with the union of routes and owners. WireGuard keeps one entry per key: a second Peer with
 * the same key would take the routes of the first away. Settings are the first owner's, keepalive the largest.
 */
export function mergeByPublicKey<P extends Peer>(peers: readonly P[]): P[] {
  const byKey = new Map<PublicKey, P>();
  for (const peer of [...peers].sort(byFirstOwner)) {
    const first = byKey.get(peer.publicKey);
    byKey.set(peer.publicKey, first ? { ...first, ...union(first, peer) } : peer);
  }
  return [...byKey.values()].sort(byName);
}

function union(first: Peer, other: Peer): Pick<Peer, "keepaliveSeconds" | "owners" | "routes"> {
  return {
    keepaliveSeconds: Math.max(first.keepaliveSeconds, other.keepaliveSeconds),
    owners: [...new Set([...first.owners, ...other.owners])].sort(),
    routes: uniqueRoutes([...first.routes, ...other.routes]),
  };
}

function byFirstOwner(a: Peer, b: Peer): number {
  return compareTexts(a.owners[0] ?? "", b.owners[0] ?? "") || compareTexts(a.name, b.name);
}

/** Two meshes may want one name. */
export function byName(a: Peer, b: Peer): number {
  return compareTexts(a.name, b.name) || compareTexts(a.owners[0] ?? "", b.owners[0] ?? "");
}
