import { type Endpoint, endpointRoutes, isNowhere, nowhereAt } from "./endpoint.ts";
import type { Helds, Matched } from "./holding.ts";
import type { ConnectionId, PeerName } from "./ids.ts";
import { type Moving, nextMove, takeTurns } from "./move.ts";
import { onceFor, oncePer } from "./once-per.ts";
import { byName, type HeldPeer } from "./peer.ts";
import { longestWaitMs, type Placed, placeShare } from "./place.ts";
import { rangesOf } from "./ranges.ts";
import type { Candidate } from "./render.ts";
import {
  addressOf,
  isAtRest,
  type NewPlace,
  type PlacesInput,
  placeText,
  type Resolved,
  type Sight,
  saidBy,
  sightOf,
  waitingKeepalive,
} from "./sight.ts";
import { type SilentOwner, withSilentOwners } from "./silent-owners.ts";
import type { Ages, ClusterView } from "./world.ts";

/** Among it from where the target's nodes have met each of them; nothing where they have not. */
export interface ReachInput extends PlacesInput {
  /** Of those that bear a mark. */
  readonly ages: readonly (number | undefined)[];
  /** Everything that is wanted of the same clusters. */
  readonly routed: readonly Candidate[];
  /** Of each of it, where anybody is silent. */
  readonly routedHelds: Helds;
  /** Those of their new places, each as one text, that are others'. */
  readonly barred: readonly string[];
  /** Owners of any of it of whose wishes nothing is known here now. */
  readonly silent: readonly SilentOwner[];
}

/** All that is known in a target about where the nodes of a source are. */
export interface Sighted extends Matched {
  /** Of each of them; none of one that is at rest. */
  readonly sights: readonly (Sight | undefined)[];
  /** The move of each that goes on. */
  readonly movings: readonly (Moving | undefined)[];
  readonly silent: readonly SilentOwner[];
  readonly agesOf: (held: HeldPeer) => MarkAges;
  /** Neither in a tunnel of the node's own cluster nor where others are. */
  readonly isFree: (place: NewPlace) => boolean;
  readonly resolved: Resolved;
}

interface MarkAges {
  readonly moveMs?: number | undefined;
  readonly endpointMs?: number | undefined;
}

/** Where no move goes on, all is settled; who takes the next step of one, only all sources together can tell. */
export type Reach = { readonly placed: Placed } | { readonly sighted: Sighted };

export function reachShare(input: ReachInput): Reach {
  const sighted = sightShare(input);
  const isMoving = sighted.movings.some((moving) => moving !== undefined);
  return isMoving ? { sighted } : { placed: placeShare(sighted) };
}

/** Where each is to be reached, with the turns of those that move taken over all of them, in the order of names. */
export function settleReach(reaches: readonly Reach[]): readonly Placed[] {
  const all = reaches
    .flatMap((reach) => ("sighted" in reach ? pairsOf(reach.sighted) : []))
    .sort((a, b) => byName(a.sight.candidate, b.sight.candidate));
  const taken = takeTurns(all.map(({ moving }) => moving));
  const turns = new Map(all.map(({ sight }, index) => [sight, taken[index]]));
  return reaches.map((reach) => {
    if ("placed" in reach) return reach.placed;
    const { sighted } = reach;
    return placeShare({ ...sighted, movings: sighted.sights.map((sight) => sight && turns.get(sight)) });
  });
}

function pairsOf({ sights, movings }: Sighted) {
  return sights.flatMap((sight, index) => (sight ? [{ sight, moving: movings[index] }] : []));
}

const nowhere: readonly Endpoint[] = [];

function sightShare(input: ReachInput): Sighted {
  const { candidates, helds, resolved, silent } = input;
  const barred = new Set(input.barred);
  const isFree = freeIn(input, barred);
  const sights = candidates.map((candidate, index) => {
    const [held, reported = nowhere] = [helds[index], input.reported[index]];
    if (isAtRest(candidate, held, reported)) return undefined;
    const seen = { held, reported, resolved, isFree: (endpoint: Endpoint) => isFree({ candidate, endpoint }) };
    return sightOf(grounded(candidate, { held, barred, resolved }), seen);
  });
  const agesOf = agesIn(input);
  const movings = sights.map((sight) => sight && movingOf(sight, agesOf));
  return { candidates, helds, sights, movings, silent, agesOf, isFree, resolved };
}

/** The routes of a cluster are asked for only where a node was met, or roams: to know them all takes longer than the rest. */
function freeIn({ routed, routedHelds, silent }: ReachInput, barred: ReadonlySet<string>): Sighted["isFree"] {
  // What a silent owner has on a Peer stays there, so no tunnel may end in it either.
  const withSilent = (): readonly Candidate[] =>
    silent.length === 0 ? routed : routed.map((one, index) => withSilentOwners(one, routedHelds[index], silent));
  const tunnelsOf = oncePer((cluster: ConnectionId) => {
    const own = withSilent().filter((one) => one.cluster === cluster);
    return rangesOf(own.flatMap(({ routes }) => routes));
  });
  return (place) => {
    const tunnels = tunnelsOf(place.candidate.cluster);
    return !barred.has(placeText(place)) && !endpointRoutes(place.endpoint).some(tunnels.touches);
  };
}

interface Ground {
  readonly held: HeldPeer | undefined;
  readonly barred: ReadonlySet<string>;
  readonly resolved: Resolved;
}

/**
 * A node that says it is where others are would keep their routes out: it has to come to us first. While nothing answers for
 * its name, that is so if it was so.
 */
function grounded(candidate: Candidate, { held, barred, resolved }: Ground): Candidate {
  const isNameless = addressOf(candidate.endpoint, undefined, resolved) === undefined;
  if (isNameless && held?.endpoint && isNowhere(held.endpoint)) return { ...candidate, roams: true };
  const said = candidate.roams ? undefined : saidBy(candidate, held, resolved);
  if (!said || !barred.has(placeText({ candidate, endpoint: said }))) return candidate;
  return { ...candidate, endpoint: nowhereAt(said.port), roams: true };
}

function movingOf(sight: Sight, agesOf: Sighted["agesOf"]): Moving | undefined {
  const { held, said, isNew, reported } = sight;
  if (!held || !said) return undefined;
  const ageMs = agesOf(held).moveMs ?? 0;
  return nextMove({ mark: held.move, ageMs, to: said, isNew, reported, follows: waitingKeepalive(sight) > 0 });
}

/** Time counts for nothing but these. */
const marked = onceFor(
  (helds: Helds): readonly HeldPeer[] =>
    helds.filter((held) => held !== undefined && (held.move !== "" || held.declared !== "")) as readonly HeldPeer[],
);

/** How old the marks of Peers are: for each that bears one, its move and its endpoint. What is old enough ages no more. */
export function agesAmong(helds: Helds, { moveAgesMs, endpointAgesMs }: ClusterView): (number | undefined)[] {
  const ageOf = (ages: Ages, name: PeerName): number | undefined => {
    const ageMs = ages.get(name);
    return ageMs === undefined ? undefined : Math.min(ageMs, longestWaitMs);
  };
  return marked(helds).flatMap(({ name }) => [ageOf(moveAgesMs, name), ageOf(endpointAgesMs, name)]);
}

const ageless: MarkAges = {};

function agesIn({ helds, ages }: ReachInput): (held: HeldPeer) => MarkAges {
  const known = new Map(
    marked(helds).map((held, index): [HeldPeer, MarkAges] => [
      held,
      { moveMs: ages[2 * index], endpointMs: ages[2 * index + 1] },
    ]),
  );
  return (held) => known.get(held) ?? ageless;
}
