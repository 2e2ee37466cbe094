import { reportsIn } from "./discovered.ts";
import { endpointRoutes } from "./endpoint.ts";
import { foreignKeysAmong, type Holding, heldsOf, type Matched, type Roster } from "./holding.ts";
import type { ConnectionId, MeshId, NodeName } from "./ids.ts";
import type { JudgedSource } from "./judge.ts";
import type { KeptPeer } from "./kept.ts";
import { conflictNotes, type Note } from "./notes.ts";
import { onceFor } from "./once-per.ts";
import type { Others } from "./others.ts";
import { mergeByPublicKey } from "./peer.ts";
import type { Placed } from "./place.ts";
import type { Promised } from "./promised.ts";
import { agesAmong, type ReachInput, settleReach } from "./reach.ts";
import type { Recall, ShareSteps } from "./recall.ts";
import type { Candidate, Rendered, RenderInput } from "./render.ts";
import type { Servers } from "./servers.ts";
import { type NewPlace, placeText } from "./sight.ts";
import type { SilentOwner } from "./silent-owners.ts";
import type { Stake } from "./stake.ts";
import { compareTexts } from "./texts.ts";
import { isRoutedToOthers, keptOf, type Use } from "./uses.ts";
import type { ClusterView, World } from "./world.ts";

/** What one source gives to a target, or what several want of one node. */
export interface Share extends Matched {
  readonly steps: ShareSteps;
}

/** What all shares of a target have to reckon with. */
export interface Surroundings {
  readonly world: World;
  readonly view: ClusterView;
  readonly holding: Holding;
  readonly kept: readonly KeptPeer[];
  readonly servers: Servers;
  readonly promised: Promised;
  readonly uses: readonly Use[];
  readonly others: Others;
}

/** What a source wants, before anybody else is asked. */
export interface RenderedShare extends Rendered {
  readonly steps: ShareSteps;
}

export function renderShare(source: JudgedSource, around: Surroundings, recall: Recall): RenderedShare {
  const steps = recall.of(source);
  return { steps, ...steps.render(renderInput(source, around)) };
}

const nobody: ReadonlySet<NodeName> = new Set();

export function renderInput(
  judged: JudgedSource,
  { world, holding, kept, servers, promised }: Surroundings,
): RenderInput {
  const { mesh, source, connected, connection, entry, admitted, unclear, view } = judged;
  const { resolved, allowedCidrs, digest } = world;
  return {
    ...{ mesh, source, connected, connection, entry, admitted, unclear, servers, promised, resolved },
    ...{ allowedCidrs, digest },
    silent: view?.silent ?? nobody,
    helds: heldsOf(holding, admitted),
    kept: keptOf(judged, kept),
    foreignKeys: foreignKeysAmong(holding.roster, admitted),
  };
}

export interface Shares {
  readonly shares: readonly Share[];
  /** Wanted, but a Peer that is not ours holds the key. */
  readonly taken: readonly Candidate[];
  /** Ours, although somebody else has written a Peer with the same key since. */
  readonly rivalled: readonly Candidate[];
  /** Where several want one node and say different things of it. */
  readonly notes: readonly Note[];
}

export interface SharesInput {
  readonly rendered: readonly RenderedShare[];
  /** The keys that several of them want. */
  readonly shared: ReadonlySet<string>;
  readonly holding: Holding;
  readonly recall: Recall;
}

/** A second Peer with one key takes the routes of the first away: where somebody else has the key first, we stay away. */
export function shareOut({ rendered, shared, holding, recall }: SharesInput): Shares {
  const { alone, common } = splitShared(rendered, shared);
  const merged = recall.mergeShared({ wishes: common });
  const all = [...alone, { candidates: merged.candidates, steps: recall.common }];
  const rivals = all.flatMap(({ candidates }) => rivalledAmong(candidates, holding.roster));
  const taken = new Set(rivals.filter(({ publicKey }) => !holding.roster.placeOfKey.has(publicKey)));
  const shares = all.map(({ candidates, steps }): Share => {
    const free = taken.size === 0 ? candidates : candidates.filter((candidate) => !taken.has(candidate));
    return { candidates: free, helds: heldsOf(holding, free), steps };
  });
  return { shares, taken: [...taken], rivalled: rivals.filter((one) => !taken.has(one)), notes: merged.notes };
}

function rivalledAmong(candidates: readonly Candidate[], roster: Roster): readonly Candidate[] {
  const keys = foreignKeysAmong(roster, candidates);
  return keys.length === 0 ? [] : candidates.filter(({ publicKey }) => keys.includes(publicKey));
}

function splitShared(rendered: readonly RenderedShare[], shared: ReadonlySet<string>) {
  if (shared.size === 0) return { alone: rendered, common: [] };
  const isShared = ({ publicKey }: Candidate): boolean => shared.has(publicKey);
  return {
    alone: rendered.map(({ candidates, steps }) => ({ candidates: candidates.filter((one) => !isShared(one)), steps })),
    common: rendered.flatMap(({ candidates }) => candidates.filter(isShared)),
  };
}

export function mergeShared({ wishes }: { readonly wishes: readonly Candidate[] }) {
  const ofKey = Map.groupBy(wishes, ({ publicKey }) => publicKey);
  const candidates = mergeByPublicKey(wishes).map((one) => ({
    ...one,
    ...rankedBy(ofKey.get(one.publicKey) ?? [one]),
  }));
  return { candidates, notes: conflictNotes(wishes) };
}

/**
 * The Peer as the oldest mesh that wants it, whatever its name, and each route as those that want that, the oldest first: what
 * a newer one adds is no older for being on the same Peer.
 */
function rankedBy(wishes: readonly Candidate[]): Pick<Candidate, "rank" | "ranks"> {
  const oldestFirst = wishes.toSorted((a, b) => compareTexts(a.rank, b.rank));
  const ranks = new Map<string, readonly string[]>();
  for (const { rank, routes } of oldestFirst) {
    for (const { text } of routes) {
      const known = ranks.get(text) ?? [];
      if (known.at(-1) !== rank) ranks.set(text, [...known, rank]);
    }
  }
  return { rank: oldestFirst[0]?.rank ?? "", ranks };
}

export interface ReachSurroundings extends Surroundings {
  readonly silentOf: (owner: MeshId) => SilentOwner | undefined;
}

/** Where each share is to be reached, one for one. */
export function placeShares(shares: readonly Share[], around: ReachSurroundings): readonly Placed[] {
  return settleReach(shares.map((share) => share.steps.reach(reachInput(share, shares, around))));
}

function reachInput(
  { candidates, helds, steps }: Share,
  shares: readonly Share[],
  around: ReachSurroundings,
): ReachInput {
  const { world, view, silentOf } = around;
  const reports = reportsIn(view.observed);
  const clusters = clustersIn(candidates);
  const related = shares.filter((share) => !clusters.isDisjointFrom(clustersIn(share.candidates)));
  const seen = {
    ...{ candidates, helds, resolved: world.resolved },
    reported: reports.size === 0 ? [] : candidates.map(({ publicKey }) => reports.get(publicKey)),
  };
  const isOthers = (place: NewPlace): boolean => isOfOthers(place, around);
  const strangers = new Set(related.flatMap((share) => share.steps.strangers(matchedOf(share))));
  const silent = [...strangers].flatMap((owner) => silentOf(owner) ?? []);
  return {
    ...seen,
    barred: steps.newPlaces(seen).filter(isOthers).map(placeText),
    ages: agesAmong(helds, view),
    routed: related.length === 1 ? candidates : related.flatMap((share) => share.candidates),
    routedHelds: silent.length === 0 ? [] : related.flatMap((share) => share.helds),
    silent,
  };
}

const matchedOf = ({ candidates, helds }: Share): Matched => ({ candidates, helds });

/**
 * True for an endpoint that would keep the routes of others out: no route may lead to where a tunnel ends. Those that are on
 * Peers stay there, on one that is only kept also those of the same cluster, and those that others have a right to before it
 * are not for it to take.
 */
function isOfOthers({ candidate, endpoint }: NewPlace, { promised, uses, others }: Surroundings): boolean {
  return endpointRoutes(endpoint).some(
    (route) =>
      others.extent.touches(route) ||
      isRoutedToOthers(uses, candidate, route) ||
      promised.before(candidate).touches(route),
  );
}

const clustersIn = onceFor(
  (candidates: readonly Candidate[]): ReadonlySet<ConnectionId> => new Set(candidates.map(({ cluster }) => cluster)),
);

/** What each share claims where it is placed. */
export function stakesOf(shares: readonly Share[], placed: readonly Placed[]): Stake[] {
  return placed.flatMap(({ candidates, helds }, index) => shares[index]?.steps.stake({ candidates, helds }) ?? []);
}
