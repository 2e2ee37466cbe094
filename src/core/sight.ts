import { type Endpoint, hostText, parseEndpoint, sameEndpoint } from "./endpoint.ts";
import type { Helds } from "./holding.ts";
import { type HeldPeer, isOwnPeer } from "./peer.ts";
import type { Candidate } from "./render.ts";

/** Everything that is known in one target about where a node is. */
export interface Sight {
  readonly candidate: Candidate;
  readonly held: HeldPeer | undefined;
  /**
   * Where the node says it is, as an address. A name without an answer says what it said when the Peer was written;
   * undefined when that is nothing either, or the node says nothing.
   */
  readonly said: Endpoint | undefined;
  /** The node says something else than what its Peer was written for. */
  readonly isNew: boolean;
  /** From where the target's nodes have met it. */
  readonly reported: readonly Endpoint[];
  /** Those of them that may be its endpoint: a tunnel must not run through itself. */
  readonly seen: readonly Endpoint[];
  /** The endpoint of the Peer, if it is one where the node was met. */
  readonly present: Endpoint | undefined;
}

interface Seen {
  readonly held: HeldPeer | undefined;
  /** It lies neither in a tunnel of its own cluster nor where others are. */
  readonly isFree: (endpoint: Endpoint) => boolean;
  /** From where the target's nodes have met it. */
  readonly reported: readonly Endpoint[];
  readonly resolved: Resolved;
}

/** The addresses of the names that could be resolved. */
export type Resolved = ReadonlyMap<string, readonly string[]>;

/** What lets Kilo follow a node that turns up somewhere else. */
export const roamingKeepaliveSeconds = 25;

/** It says itself where it is, and has a Peer that was written for just that: while nobody has met it, that is all. */
export function isAtRest(
  { roams, endpoint }: Candidate,
  held: HeldPeer | undefined,
  reported: readonly Endpoint[],
): boolean {
  const isUnmarked = held?.declared === "" && held.move === "";
  return (
    !roams && isUnmarked && reported.length === 0 && "ip" in endpoint.host && sameEndpoint(endpoint, held.endpoint)
  );
}

export interface PlacesInput {
  readonly candidates: readonly Candidate[];
  /** Of each of them. */
  readonly helds: Helds;
  readonly reported: readonly (readonly Endpoint[] | undefined)[];
  readonly resolved: Resolved;
}

/** An endpoint that a node's Peer would get and does not have. */
export interface NewPlace {
  readonly candidate: Candidate;
  readonly endpoint: Endpoint;
}

/** One text for it; the port is nobody's concern. */
export function placeText({ candidate, endpoint }: NewPlace): string {
  return `${candidate.publicKey} ${hostText(endpoint)}`;
}

const nowhere: readonly Endpoint[] = [];

/**
 * Where nodes may come to be reached and are not yet. What a Peer has already is not among it: it works, so it stays. A
 * placeholder at which nobody has met the node does not work.
 */
export function newPlacesIn({ candidates, helds, reported, resolved }: PlacesInput): readonly NewPlace[] {
  return candidates.flatMap((candidate, index) => {
    const [held, met = nowhere] = [helds[index], reported[index]];
    if (isAtRest(candidate, held, met)) return [];
    const said = candidate.roams
      ? addressOf(candidate.endpoint, held?.endpoint, resolved)
      : saidBy(candidate, held, resolved);
    const present = isOwnPeer(candidate, held) && !isStandIn(candidate, held, met) ? held?.endpoint : undefined;
    const places = [...(said ? [said] : nowhere), ...(candidate.pinned ? nowhere : met)];
    const isPresent = (place: Endpoint): boolean => present !== undefined && hostText(place) === hostText(present);
    return places.filter((place) => !isPresent(place)).map((endpoint) => ({ candidate, endpoint }));
  });
}

/** True while the endpoint of a Peer only stands there until the node is met, and all that have put it there are heard. */
function isStandIn({ roams, owners }: Candidate, held: HeldPeer | undefined, met: readonly Endpoint[]): boolean {
  const there = held?.endpoint && hostText(held.endpoint);
  const isUnmet = roams && held?.declared === "" && !met.some((place) => hostText(place) === there);
  return isUnmet && held.owners.every((owner) => owners.includes(owner));
}

export function sightOf(candidate: Candidate, { held, isFree, reported, resolved }: Seen): Sight {
  const said = candidate.roams ? undefined : saidBy(candidate, held, resolved);
  const isNew = isNewlySaid(candidate, held, said);
  const mayBe = (endpoint: Endpoint): boolean => !candidate.pinned && isFree(endpoint);
  const wasMet = held?.endpoint && held.declared !== "" && !isNew && mayBe(held.endpoint);
  const present = wasMet ? held.endpoint : undefined;
  const seen = reported.length === 0 ? reported : reported.filter(mayBe);
  return { candidate, held, said, isNew, reported, seen, present };
}

/**
 * One name that does not resolve stops Kilo on every node, so names are resolved here. The present address stays while it is
 * in the answer. Undefined without an answer.
 */
export function addressOf(endpoint: Endpoint, present: Endpoint | undefined, resolved: Resolved): Endpoint | undefined {
  if ("ip" in endpoint.host) return endpoint;
  const addresses = resolved.get(endpoint.host.dns) ?? [];
  const [first] = addresses;
  if (first === undefined) return undefined;
  const isConforming =
    present?.port === endpoint.port && (sameEndpoint(present, endpoint) || addresses.includes(hostText(present)));
  return isConforming ? present : { host: { ip: first }, port: endpoint.port };
}

/** Where a node says it is. A name without an answer says what it said before. */
export function saidBy(
  { endpoint, pinned }: Candidate,
  held: HeldPeer | undefined,
  resolved: Resolved,
): Endpoint | undefined {
  return addressOf(endpoint, writtenFor(held), resolved) ?? (pinned ? held?.endpoint : writtenFor(held));
}

/** What the node said when the Peer got its endpoint. */
function writtenFor(held: HeldPeer | undefined): Endpoint | undefined {
  return held?.declared ? parseEndpoint(held.declared) : held?.endpoint;
}

/** The Go operator left no word of what a node said when it wrote where it was met: then that is what it says now. */
function isNewlySaid({ pinned }: Candidate, held: HeldPeer | undefined, said: Endpoint | undefined): boolean {
  if (!held || !said) return false;
  if (pinned) return !sameEndpoint(said, held.endpoint);
  return !held.legacy && !sameEndpoint(said, writtenFor(held));
}

/** A Peer without keepalive stays so while it moves: Kilo takes its endpoint at once. */
export function waitingKeepalive({ candidate, held }: Sight): number {
  const follows = held !== undefined && held.keepaliveSeconds > 0;
  return candidate.keepaliveSeconds || (follows ? roamingKeepaliveSeconds : 0);
}
