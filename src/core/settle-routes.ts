import { networksIn } from "./cidr.ts";
import { type Claim, type RefusedClaim, type Settlement, settleClaims } from "./claims.ts";
import { endpointRoutes } from "./endpoint.ts";
import type { ConnectionId } from "./ids.ts";
import type { KeptPeer } from "./kept.ts";
import type { HeldPeer, Peer } from "./peer.ts";
import { mayRoute, mayRouteAll, protectionOf } from "./protect.ts";
import { aggregate, rangesOf } from "./ranges.ts";
import { asPeer, isRouted, type Stake, wholePeer } from "./stake.ts";
import type { World } from "./world.ts";

export interface RoutesInput {
  readonly world: World;
  readonly target: ConnectionId;
  readonly stakes: readonly Stake[];
  /** The Peers that are not ours. */
  readonly foreign: readonly HeldPeer[];
  readonly kept: readonly KeptPeer[];
}

export interface SettledRoutes {
  readonly peers: readonly Peer[];
  /** Those of them that may differ from what the target holds. */
  readonly unsettled: readonly Peer[];
  readonly refused: readonly RefusedClaim[];
}

/** Each Peer with the routes that the target can bear and nobody else has. */
export function settleRoutes(input: RoutesInput): SettledRoutes {
  const { stakes } = input;
  const unbearable = unbearableClaims(input);
  const settlements = settleStakes(input, unbearable);
  const refused = settlements.flatMap((settlement) => settlement.refused);
  const lost = new Set([...unbearable, ...refused.map(({ claim }) => claim)]);
  const entangled = new Set(settlements.flatMap((settlement) => [...settlement.entangled]));
  const isPeaceful = lost.size === 0 && entangled.size === 0;
  const parts = isPeaceful ? stakes : stakes.map((stake) => partsOf(stake, lost, entangled));
  return {
    peers: parts.flatMap(({ peers }) => peers),
    unsettled: parts.flatMap(({ unsettled }) => unsettled),
    refused,
  };
}

/** Those that meet nobody are settled already; the others all together. */
function settleStakes(input: RoutesInput, unbearable: ReadonlySet<Claim>): Settlement[] {
  const { stakes } = input;
  const held = claimsOfOthers(input);
  const isMeeting = meetingOthers(stakes, held);
  const isBearable = (claim: Claim): boolean => !unbearable.has(claim);
  const isApart = (stake: Stake): boolean =>
    !isMeeting(stake) && (unbearable.size === 0 || stake.claims.every(isBearable));
  const apart = new Set(stakes.filter(isApart));
  const meeting = stakes.filter((stake) => !apart.has(stake)).flatMap(({ claims }) => claims.filter(isBearable));
  return [...[...apart].map(({ alone }) => alone), settleClaims([...meeting, ...held])];
}

/** Tells of a stake whether others want, or have, addresses that it wants. */
function meetingOthers(stakes: readonly Stake[], held: readonly Claim[]): (stake: Stake) => boolean {
  const extents = [...stakes.map(({ extent }) => extent), rangesOf(held.map(({ route }) => route))];
  return ({ extent: own }) =>
    own.spans.some((span) => extents.some((extent) => extent !== own && extent.touches(span)));
}

function unbearableClaims({ world, target, stakes, foreign, kept }: RoutesInput): ReadonlySet<Claim> {
  const others = [...foreign, ...kept.map(({ held }) => held)];
  const elsewhere = others.flatMap(({ endpoint }) => (endpoint ? endpointRoutes(endpoint) : []));
  const endpoints = [...stakes.map((stake) => stake.endpoints), rangesOf(elsewhere)];
  const protection = protectionOf(world, target, endpoints);
  const touched = stakes.filter(({ extent }) => !mayRouteAll(protection, extent.spans));
  return new Set(touched.flatMap(({ claims }) => claims.filter(({ route }) => !mayRoute(protection, route))));
}

/** What is on a Peer that we do not plan now is there, and works. */
function claimsOfOthers({ foreign, kept }: RoutesInput): Claim[] {
  const incumbents = ({ publicKey: peer }: HeldPeer, allowedIps: readonly string[], cluster: string): Claim[] =>
    networksIn(allowedIps).map((route) => ({ peer, cluster, route, incumbent: true, rank: "" }));
  return [
    ...foreign.flatMap((held) => incumbents(held, held.allowedIps, held.publicKey)),
    ...kept.flatMap(({ held, routes, cluster }) => incumbents(held, routes, cluster ?? held.publicKey)),
  ];
}

/** The Peers of a stake with what is left to them. */
function partsOf(
  stake: Stake,
  lost: ReadonlySet<Claim>,
  entangled: ReadonlySet<string>,
): Omit<SettledRoutes, "refused"> {
  const { candidates, wishes, claims } = stake;
  if (!claims.some((claim) => lost.has(claim) || entangled.has(claim.peer))) return stake;
  const peers = candidates.map((candidate, index): Peer => {
    const inPieces = entangled.has(candidate.publicKey);
    const wish = wishes[index] ?? [];
    if (!inPieces && !wish.some((claim) => lost.has(claim))) return wholePeer(candidate);
    const routes = wish.filter((claim) => !lost.has(claim)).map(({ route }) => route);
    return asPeer(candidate, { routes: inPieces ? routes : aggregate(routes), inPieces });
  });
  const routed = peers.filter(isRouted);
  return { peers: routed, unsettled: routed };
}
