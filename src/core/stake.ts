import { type Cidr, exactly } from "./cidr.ts";
import { type Claim, type Settlement, settleClaims } from "./claims.ts";
import { type Endpoint, endpointRoutes } from "./endpoint.ts";
import type { Matched } from "./holding.ts";
import { joined } from "./many.ts";
import type { MeshEntry } from "./mesh.ts";
import { onceFor } from "./once-per.ts";
import { type HeldPeer, isOwnPeer, type Peer, routesOf, samePeer } from "./peer.ts";
import { aggregate, type Ranges, rangesOf, steadyRanges } from "./ranges.ts";
import { type Each, remembered } from "./remembered.ts";
import type { Candidate } from "./render.ts";

/** What a share wants to be routed to its Peers. */
export interface Stake extends Claimed {
  readonly candidates: readonly Candidate[];
  /** Of each of them. */
  readonly wanted: readonly Wanted[];
  /** Where its tunnels end. */
  readonly endpoints: Ranges;
  /** The Peers if nobody objects. */
  readonly peers: readonly Peer[];
  /** Those of them that are not there yet, or not so. */
  readonly unsettled: readonly Peer[];
  /** Each of them is there under the name that it is wanted with. */
  readonly isNamed: boolean;
}

/** What is wanted of one Peer. */
export interface Wanted {
  readonly claims: readonly Claim[];
  /** The Peer if nobody objects. */
  readonly peer: Peer;
  /** It is there, just so. */
  readonly isThere: boolean;
  /** It is there under the name that it is wanted with. */
  readonly isNamed: boolean;
}

/** What all of them claim. */
export interface Claimed {
  readonly claims: readonly Claim[];
  /** Settled as if there were no others. */
  readonly alone: Settlement;
  /** The addresses that they are for. */
  readonly extent: Ranges;
}

/** What follows from claims and endpoints alone: nearly always the same in all targets of a source. */
export interface ClaimSteps {
  readonly claimed: (question: { readonly claims: readonly Claim[] }) => Claimed;
  readonly tunnelEnds: (question: { readonly endpoints: readonly Endpoint[] }) => Ranges;
}

export function claimSteps(): ClaimSteps {
  const [sameExtent, sameEnds] = [steadyRanges(), steadyRanges()];
  return {
    claimed: remembered(({ claims }) => ({
      claims,
      alone: settleClaims(claims),
      extent: sameExtent(rangesOf(claims.map(({ route }) => route))),
    })),
    tunnelEnds: remembered(({ endpoints }) => sameEnds(rangesOf(endpoints.flatMap(endpointRoutes)))),
  };
}

/** The steps that all targets of an entry share. */
export const claimStepsOf = onceFor((_: MeshEntry) => claimSteps());

export interface StakeSteps extends ClaimSteps {
  readonly wantedEach: Each<Candidate, Wanted, HeldPeer | undefined>;
}

export function stakeOf({ candidates, helds }: Matched, { wantedEach, claimed, tunnelEnds }: StakeSteps): Stake {
  const wanted = wantedEach(candidates, { others: helds });
  const routed = wanted.filter(({ peer }) => isRouted(peer));
  return {
    candidates,
    wanted,
    ...claimed({ claims: joined(wanted.map(({ claims }) => claims)) }),
    endpoints: tunnelEnds({ endpoints: candidates.map(({ endpoint }) => endpoint) }),
    peers: routed.map(({ peer }) => peer),
    unsettled: routed.filter(({ isThere }) => !isThere).map(({ peer }) => peer),
    isNamed: wanted.every(({ isNamed }) => isNamed),
  };
}

export function wantedOf(candidate: Candidate, held: HeldPeer | undefined): Wanted {
  const peer = wholePeer(candidate);
  return {
    claims: claimsOf(candidate, held),
    peer,
    isThere: held !== undefined && samePeer(peer, held),
    isNamed: held?.name === candidate.name,
  };
}

/** A Peer without routes is none. */
export const isRouted = ({ routes }: Peer): boolean => routes.length > 0;

/** With all that it wants: nearly always the candidate itself. */
export const wholePeer = onceFor((candidate: Candidate): Peer => {
  const routes = aggregate(candidate.routes);
  const isWhole = routes.length === candidate.routes.length;
  return isWhole ? candidate : asPeer(candidate, { routes: exactly(routes), inPieces: false });
});

export function asPeer(candidate: Candidate, { routes, inPieces }: Pick<Peer, "routes" | "inPieces">): Peer {
  const { name, publicKey, endpoint, keepaliveSeconds, mesh, source, node, owners } = candidate;
  const { touchPending, declared, move, mayLackEndpoint } = candidate;
  const written = { name, publicKey, endpoint, routes, keepaliveSeconds, mesh, source, node, owners };
  return { ...written, touchPending, declared, move, mayLackEndpoint, inPieces };
}

function claimsOf(candidate: Candidate, held: HeldPeer | undefined): readonly Claim[] {
  const there = routesOf(isOwnPeer(candidate, held) ? held : undefined);
  const isIncumbent = candidate.routes.map((route) => there.covers(route));
  if (isIncumbent.every(Boolean)) return incumbentClaims(candidate);
  if (!isIncumbent.includes(true)) return newClaims(candidate);
  return candidate.routes.map((route, index) => claimFor(candidate, route, isIncumbent[index] ?? false));
}

/** Of a Peer that is as it should be, and of one that is not there: so nearly all are, in all targets. */
const incumbentClaims = onceFor((candidate: Candidate) => claimsAs(candidate, true));
const newClaims = onceFor((candidate: Candidate) => claimsAs(candidate, false));

const claimsAs = (candidate: Candidate, incumbent: boolean): readonly Claim[] =>
  candidate.routes.map((route) => claimFor(candidate, route, incumbent));

function claimFor({ publicKey, cluster, rank, ranks }: Candidate, route: Cidr, incumbent: boolean): Claim {
  const all = ranks?.get(route.text) ?? [rank];
  const claim = { peer: publicKey, cluster, route, incumbent, rank: all[0] ?? rank };
  return all.length > 1 ? { ...claim, ranks: all } : claim;
}
