import { type Endpoint, endpointText, nowhereAt, sameEndpoint } from "./endpoint.ts";
import type { Helds } from "./holding.ts";
import { type Moving, moveText, stepMs } from "./move.ts";
import type { Note } from "./notes.ts";
import type { Sighted } from "./reach.ts";
import type { Candidate } from "./render.ts";
import { addressOf, roamingKeepaliveSeconds, type Sight, waitingKeepalive } from "./sight.ts";
import { withSilentOwners } from "./silent-owners.ts";

/** What a source gives to a target, and where. */
export interface Placed {
  readonly candidates: readonly Candidate[];
  /** Of each of them. */
  readonly helds: Helds;
  /** Nodes whose endpoint is a name that leads nowhere. One that has a Peer here keeps it as it is. */
  readonly unresolved: readonly Candidate[];
  /** Nodes that are met elsewhere than they say. */
  readonly notes: readonly Note[];
  /** When to look again: time alone can change the answer. */
  readonly waitsMs: readonly number[];
}

/** With a keepalive Kilo follows a node by itself, so we write after it at most so often. */
const betweenObservedMs = 300_000;
/** Whatever is older than this is as good as ever. */
export const longestWaitMs = Math.max(betweenObservedMs, stepMs);
/** Stands for what a node said that says nothing of where it is. */
const saidNothing = "none";

/** Settles where each Peer is to be reached in this target. Nothing of one target leaks into another. */
export function placeShare(sighted: Sighted): Placed {
  const { helds, silent, sights } = sighted;
  const places = sighted.candidates.map((candidate, index) => placeOf(candidate, sighted, index));
  const there = places.filter((place) => place !== undefined);
  const heldThere = there.length === places.length ? helds : helds.filter((_, index) => places[index]);
  const seen = sights.filter((sight) => sight !== undefined);
  return {
    candidates: there.map(({ candidate }, index) => withSilentOwners(candidate, heldThere[index], silent)),
    helds: heldThere,
    unresolved: seen.filter((sight) => isNameless(sight, sighted)).map(({ candidate }) => candidate),
    notes: there.map(({ note }) => note).filter((note) => note !== undefined),
    waitsMs: there.map(({ afterMs }) => afterMs).filter((afterMs) => afterMs !== undefined),
  };
}

interface Place {
  readonly candidate: Candidate;
  readonly note?: Note | undefined;
  readonly afterMs?: number | undefined;
}

function placeOf(candidate: Candidate, sighted: Sighted, index: number): Place | undefined {
  const [sight, moving] = [sighted.sights[index], sighted.movings[index]];
  if (!sight) return { candidate };
  return moving ? movingPlace(sight, moving) : settledPlace(sight, sighted, candidate);
}

function isNameless({ candidate, reported }: Sight, { resolved }: Sighted): boolean {
  const isMet = !candidate.pinned && reported.length > 0;
  return !isMet && !addressOf(candidate.endpoint, undefined, resolved);
}

function movingPlace(sight: Sight, { move, afterMs }: Moving): Place {
  const { candidate, said = candidate.endpoint } = sight;
  const keepaliveSeconds = move.step === "dropped" ? 0 : waitingKeepalive(sight);
  const moved = { ...candidate, endpoint: said, keepaliveSeconds, move: moveText(move) };
  return { candidate: moved, note: differs(candidate), afterMs };
}

/** Who was met needs nothing of what its node says: that others may not let it be there changes nothing of the Peer. */
function settledPlace(sight: Sight, sighted: Sighted, wish: Candidate): Place | undefined {
  const { candidate, held, said, reported } = sight;
  const met = metPlace(sight, sighted);
  const follower = met ? wish : candidate;
  const place = met?.endpoint ?? said ?? standIn(sight, sighted) ?? held?.endpoint;
  if (!place && !held) return undefined;
  const endpoint = place ?? nowhereAt(candidate.endpoint.port);
  const isElsewhere = isMetElsewhere({ ...sight, candidate: follower }, endpoint);
  const settled = {
    endpoint,
    keepaliveSeconds: settledKeepalive(follower, isElsewhere),
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
function metPlace({ held, said, seen, present }: Sight, { agesOf }: Sighted): Met | undefined {
  const same = seen.find((endpoint) => sameEndpoint(endpoint, held?.endpoint));
  if (same) return { endpoint: same };
  const ageMs = held && agesOf(held).endpointMs;
  const restMs = betweenObservedMs - (ageMs ?? betweenObservedMs);
  if (present && restMs > 0) return { endpoint: present, afterMs: restMs };
  const [first] = seen;
  if (first) return { endpoint: first };
  // Where it was last is better than an address that nobody has.
  return present && !said ? { endpoint: present } : undefined;
}

/** For a node that has to come to us first. */
function standIn({ candidate, held }: Sight, { resolved, isFree }: Sighted): Endpoint | undefined {
  if (!candidate.roams) return undefined;
  const address = addressOf(candidate.endpoint, held?.endpoint, resolved);
  return address && !isFree({ candidate, endpoint: address }) ? nowhereAt(address.port) : address;
}

/** A node that has fallen silent may say the same again: that is no news. */
function declaredMark({ held, said }: Sight): string {
  return said ? endpointText(said) : held?.declared || saidNothing;
}

function differs({ owners, source, node }: Candidate): Note {
  return { owners, source, reason: "EndpointDiffers", subject: node };
}
