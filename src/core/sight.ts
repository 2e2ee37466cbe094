import { type Endpoint, endpointRoutes, hostText, parseEndpoint, sameEndpoint } from "./endpoint.ts";
import type { HeldPeer } from "./peer.ts";
import type { Tunnels } from "./promised.ts";
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
  /** Every route that leads into a tunnel. */
  readonly routes: Tunnels;
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

export function sightOf(candidate: Candidate, { held, routes, reported, resolved }: Seen): Sight {
  const said = candidate.roams ? undefined : saidBy(candidate, held, resolved);
  const isNew = isNewlySaid(candidate, held, said);
  const mayBe = (endpoint: Endpoint): boolean => !candidate.pinned && !isRouted(endpoint, routes);
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

export function isRouted(endpoint: Endpoint, routes: Tunnels): boolean {
  return endpointRoutes(endpoint).some((route) => routes.touches(route));
}

function saidBy({ endpoint, pinned }: Candidate, held: HeldPeer | undefined, resolved: Resolved): Endpoint | undefined {
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
