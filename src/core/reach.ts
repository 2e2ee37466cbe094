import { reportsIn } from "./discovered.ts";
import { type Endpoint, endpointText, nowhereAt, sameEndpoint } from "./endpoint.ts";
import { type Moving, moveText, nextMove, takeTurns } from "./move.ts";
import type { Note } from "./notes.ts";
import type { HeldPeer } from "./peer.ts";
import { endpointTrespasses, type Promised, type Tunnels, tunnelsAround } from "./promised.ts";
import type { Candidate } from "./render.ts";
import { addressOf, isRouted, type Sight, sightOf } from "./sight.ts";
import type { ClusterView } from "./world.ts";

export interface ReachInput {
  readonly candidates: readonly Candidate[];
  readonly heldByKey: ReadonlyMap<string, HeldPeer>;
  /** The target, whose nodes say where they have met a key. */
  readonly view: ClusterView | undefined;
  /** The addresses of the names that could be resolved. */
  readonly resolved: ReadonlyMap<string, readonly string[]>;
  readonly promised: Promised;
}

export interface Reached {
  readonly reachable: readonly Candidate[];
  /** Nodes whose endpoint is a name that leads nowhere. One that has a Peer here keeps it as it is. */
  readonly unresolved: readonly Candidate[];
  /** Nodes that are met elsewhere than they say. */
  readonly notes: readonly Note[];
  /** When to look again: time alone can change the answer. */
  readonly afterMs?: number;
}

/** What lets Kilo follow a node that turns up somewhere else. */
export const roamingKeepaliveSeconds = 25;
/** With a keepalive Kilo follows a node by itself, so we write after it at most so often. */
const betweenObservedMs = 300_000;
const nowhere: readonly Endpoint[] = [];
/** Stands for what a node said that says nothing of where it is. */
const saidNothing = "none";

/** Settles where each Peer is to be reached in this target. Nothing of one target leaks into another. */
export function settleReach(input: ReachInput): Reached {
  const { heldByKey, view, resolved } = input;
  const candidates = input.candidates.map((candidate) => grounded(candidate, input));
  const tunnels = tunnelsAround(input.promised, candidates);
  // Asked only where a node was met, or roams: to know them all takes longer than the rest.
  const routesFor = ({ cluster }: Candidate): Tunnels => ({ touches: (route) => tunnels(cluster).touches(route) });
  const reports = reportsIn(view?.observed ?? new Map());
  const sights = candidates.map((candidate) => {
    const held = heldByKey.get(candidate.publicKey);
    const reported = reports.get(candidate.publicKey) ?? nowhere;
    return sightOf(candidate, { held, routes: routesFor(candidate), reported, resolved });
  });
  const movings = takeTurns(sights.map((sight) => movingOf(sight, view)));
  const placed = sights.flatMap((sight, index) => {
    const moving = movings[index];
    return moving ? [movingPlace(sight, moving)] : (settledPlace(sight, routesFor(sight.candidate), input) ?? []);
  });
  const waits = placed.flatMap(({ afterMs }) => afterMs ?? []);
  return {
    reachable: placed.map(({ candidate }) => candidate),
    unresolved: sights.filter((sight) => isNameless(sight, resolved)).map(({ candidate }) => candidate),
    notes: placed.flatMap(({ note }) => note ?? []),
    ...(waits.length > 0 && { afterMs: Math.min(...waits) }),
  };
}

/** An endpoint in another cluster's networks would keep their routes out: such a node has to come to us first. */
function grounded(candidate: Candidate, { promised, heldByKey, resolved }: ReachInput): Candidate {
  const held = heldByKey.get(candidate.publicKey)?.endpoint;
  const address = addressOf(candidate.endpoint, held, resolved);
  if (!address || sameEndpoint(address, held) || !endpointTrespasses(promised, candidate.cluster, address))
    return candidate;
  return { ...candidate, endpoint: nowhereAt(address.port), roams: true };
}

interface Placed {
  readonly candidate: Candidate;
  readonly note?: Note | undefined;
  readonly afterMs?: number | undefined;
}

function isNameless({ candidate, reported }: Sight, resolved: ReachInput["resolved"]): boolean {
  const isMet = !candidate.pinned && reported.length > 0;
  return !isMet && !addressOf(candidate.endpoint, undefined, resolved);
}

function movingOf(sight: Sight, view: ClusterView | undefined): Moving | undefined {
  const { held, said, isNew, reported } = sight;
  if (!held || !said) return undefined;
  const ageMs = view?.moveAgesMs.get(held.name) ?? 0;
  return nextMove({ mark: held.move, ageMs, to: said, isNew, reported, follows: waitingKeepalive(sight) > 0 });
}

/** A Peer without keepalive stays so while it moves: Kilo takes its endpoint at once. */
function waitingKeepalive({ candidate, held }: Sight): number {
  const follows = held !== undefined && held.keepaliveSeconds > 0;
  return candidate.keepaliveSeconds || (follows ? roamingKeepaliveSeconds : 0);
}

function movingPlace(sight: Sight, { move, afterMs }: Moving): Placed {
  const { candidate, said = candidate.endpoint } = sight;
  const keepaliveSeconds = move.step === "dropped" ? 0 : waitingKeepalive(sight);
  const moved = { ...candidate, endpoint: said, keepaliveSeconds, move: moveText(move) };
  return { candidate: moved, note: differs(candidate), afterMs };
}

function settledPlace(sight: Sight, routes: Tunnels, input: ReachInput): Placed | undefined {
  const { candidate, held, said, reported } = sight;
  const met = metPlace(sight, input.view);
  const place = met?.endpoint ?? said ?? standIn(sight, routes, input.resolved) ?? held?.endpoint;
  if (!place && !held) return undefined;
  const endpoint = place ?? nowhereAt(candidate.endpoint.port);
  const isElsewhere = isMetElsewhere(sight, endpoint);
  const settled = {
    endpoint,
    keepaliveSeconds: settledKeepalive(candidate, isElsewhere),
    declared: met && !sameEndpoint(said, endpoint) ? declaredMark(sight) : followMark(candidate, endpoint, isElsewhere),
    mayLackEndpoint: !place || (candidate.roams && !met && reported.length > 0),
  };
  return {
    candidate: isAsWished(candidate, settled) ? candidate : { ...candidate, ...settled },
    note: candidate.pinned && isElsewhere ? differs(candidate) : undefined,
    afterMs: met?.afterMs,
  };
}

function isAsWished(wish: Candidate, settled: Partial<Candidate>): boolean {
  return (
    sameEndpoint(wish.endpoint, settled.endpoint) &&
    wish.keepaliveSeconds === settled.keepaliveSeconds &&
    wish.declared === settled.declared &&
    wish.mayLackEndpoint === settled.mayLackEndpoint
  );
}

/** On a Peer that may follow although its mesh asks for no keepalive: so that it is known why. */
function followMark({ keepaliveSeconds }: Candidate, endpoint: Endpoint, isElsewhere: boolean): string {
  return isElsewhere && keepaliveSeconds === 0 ? endpointText(endpoint) : "";
}

/** While nobody reports anything, as after any reset of a device, what was so when the Peer was written still is. */
function isMetElsewhere({ candidate, held, reported }: Sight, endpoint: Endpoint): boolean {
  if (candidate.roams) return false;
  if (reported.length > 0) return reported.some((other) => !sameEndpoint(other, endpoint));
  const wasMet = held?.declared !== "" && held?.keepaliveSeconds === roamingKeepaliveSeconds;
  return wasMet && sameEndpoint(held.endpoint, endpoint);
}

/** Written for one place and met in another, Kilo would reset the device at every look: then it may follow. */
function settledKeepalive({ roams, keepaliveSeconds }: Candidate, isElsewhere: boolean): number {
  if (roams) return Math.max(keepaliveSeconds, roamingKeepaliveSeconds);
  return keepaliveSeconds || (isElsewhere ? roamingKeepaliveSeconds : 0);
}

interface Met {
  readonly endpoint: Endpoint;
  readonly afterMs?: number;
}

/** Where the node was met; the present place while anybody reports it, or while it is not long since we wrote it. */
function metPlace({ held, said, seen, present }: Sight, view: ClusterView | undefined): Met | undefined {
  const same = seen.find((endpoint) => sameEndpoint(endpoint, held?.endpoint));
  if (same) return { endpoint: same };
  const ageMs = held && view?.endpointAgesMs.get(held.name);
  const restMs = betweenObservedMs - (ageMs ?? betweenObservedMs);
  if (present && restMs > 0) return { endpoint: present, afterMs: restMs };
  const [first] = seen;
  if (first) return { endpoint: first };
  // Where it was last is better than an address that nobody has.
  return present && !said ? { endpoint: present } : undefined;
}

/** For a node that has to come to us first. */
function standIn({ candidate, held }: Sight, routes: Tunnels, resolved: ReachInput["resolved"]) {
  if (!candidate.roams) return undefined;
  const address = addressOf(candidate.endpoint, held?.endpoint, resolved);
  return address && isRouted(address, routes) ? nowhereAt(address.port) : address;
}

/** A node that has fallen silent may say the same again: that is no news. */
function declaredMark({ held, said }: Sight): string {
  return said ? endpointText(said) : held?.declared || saidNothing;
}

function differs({ owners, source, node }: Candidate): Note {
  return { owners, source, reason: "EndpointDiffers", subject: node };
}
