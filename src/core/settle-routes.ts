import { type Claim, type HeldClaim, type Settlement, settleClaims } from "./claims.ts";
import type { ConnectionId } from "./ids.ts";
import type { Others } from "./others.ts";
import type { Peer } from "./peer.ts";
import { isHeldBack, mayRoute, protectionOf } from "./protect.ts";
import { aggregate, meet, type Ranges } from "./ranges.ts";
import type { Recall } from "./recall.ts";
import { asPeer, isRouted, type Stake, wholePeer } from "./stake.ts";
import type { World } from "./world.ts";

export interface RoutesInput {
  readonly world: World;
  readonly target: ConnectionId;
  readonly stakes: readonly Stake[];
  readonly others: Others;
  readonly recall: Recall;
}

/** The Peers of a stake with what is left to them. */
export type Part = Pick<Stake, "peers" | "unsettled">;

export interface SettledRoutes {
  /** One for each stake. */
  readonly parts: readonly Part[];
  readonly refused: readonly HeldClaim[];
}

/** Each Peer with the routes that the target can bear and nobody else has. */
export function settleRoutes(input: RoutesInput): SettledRoutes {
  const { stakes } = input;
  const { unbearable, heldBack } = unbearableClaims(input);
  const settlements = settleStakes(input, unbearable);
  const refused = [...heldBack, ...settlements.flatMap((settlement) => settlement.refused)];
  const lost = new Set([...unbearable, ...refused.map(({ claim }) => claim)]);
  const entangled = new Set(settlements.flatMap((settlement) => [...settlement.entangled]));
  const isPeaceful = lost.size === 0 && entangled.size === 0;
  return { parts: isPeaceful ? stakes : stakes.map((stake) => partOf(stake, lost, entangled)), refused };
}

/** Those that meet nobody are settled already; the others all together. */
function settleStakes({ stakes, others, recall }: RoutesInput, unbearable: ReadonlySet<Claim>): Settlement[] {
  const meetings = recall.meetings({ extents: [...stakes, others].map(({ extent }) => extent) });
  const isBearable = (claim: Claim): boolean => !unbearable.has(claim);
  const isApart = (stake: Stake, index: number): boolean =>
    !meetings[index] && (unbearable.size === 0 || stake.claims.every(isBearable));
  const apart = new Set(stakes.filter(isApart));
  const meeting = stakes.filter((stake) => !apart.has(stake)).flatMap(({ claims }) => claims.filter(isBearable));
  return [...[...apart].map(({ alone }) => alone), settleClaims([...meeting, ...others.claims])];
}

/** For each of them whether another one has addresses that it has. */
export function meetingsOf({ extents }: { readonly extents: readonly Ranges[] }): readonly boolean[] {
  return extents.map((own) => extents.some((extent) => extent !== own && meet(own, extent)));
}

interface Unbearable {
  readonly unbearable: ReadonlySet<Claim>;
  /** Those of them that another mesh keeps out. */
  readonly heldBack: readonly HeldClaim[];
}

function unbearableClaims({ world, target, stakes, others, recall }: RoutesInput): Unbearable {
  const ends = [...stakes, others].map((one) => one.endpoints);
  const protection = protectionOf(world, target, ends);
  const isFree = recall.areFree({ ...protection, extents: stakes.map(({ extent }) => extent) });
  const lost = stakes.flatMap(({ claims }, share) => {
    if (isFree[share]) return [];
    return claims.filter((claim) => !mayRoute(protection, claim)).map((claim) => ({ claim, share }));
  });
  const heldBack = lost.filter(({ claim, share }) => isHeldBack(protection, claim, share));
  return { unbearable: new Set(lost.map(({ claim }) => claim)), heldBack: heldBack.map(({ claim }) => ({ claim })) };
}

function partOf(stake: Stake, lost: ReadonlySet<Claim>, entangled: ReadonlySet<string>): Part {
  const { candidates, wanted, claims } = stake;
  if (!claims.some((claim) => lost.has(claim) || entangled.has(claim.peer))) return stake;
  const peers = candidates.map((candidate, index): Peer => {
    const inPieces = entangled.has(candidate.publicKey);
    const own = wanted[index]?.claims ?? [];
    if (!inPieces && !own.some((claim) => lost.has(claim))) return wholePeer(candidate);
    const routes = own.filter((claim) => !lost.has(claim)).map(({ route }) => route);
    return asPeer(candidate, { routes: inPieces ? routes : aggregate(routes), inPieces });
  });
  const routed = peers.filter(isRouted);
  return { peers: routed, unsettled: routed };
}
