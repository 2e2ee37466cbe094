import { type Cidr, exactly } from "./cidr.ts";
import { type Claim, type Settlement, settleClaims } from "./claims.ts";
import { endpointRoutes } from "./endpoint.ts";
import type { Matched } from "./holding.ts";
import { onceFor } from "./once-per.ts";
import { type HeldPeer, type Peer, routesOf, samePeer } from "./peer.ts";
import { aggregate, type Ranges, rangesOf } from "./ranges.ts";
import type { Candidate } from "./render.ts";

/** What a share wants to be routed to its Peers. */
export interface Stake {
  readonly candidates: readonly Candidate[];
  /** Of each of them. */
  readonly wishes: readonly (readonly Claim[])[];
  /** All of them, settled as if there were no others. */
  readonly alone: Settlement;
  readonly claims: readonly Claim[];
  /** The addresses that they are for. */
  readonly extent: Ranges;
  /** Where its tunnels end. */
  readonly endpoints: Ranges;
  /** The Peers if nobody objects. */
  readonly peers: readonly Peer[];
  /** Those of them that are not there yet, or not so. */
  readonly unsettled: readonly Peer[];
  /** Each of them is there under the name that it is wanted with. */
  readonly isNamed: boolean;
}

export function stakeOf({ candidates, helds }: Matched): Stake {
  const wishes = candidates.map((candidate, index) => claimsOf(candidate, helds[index]));
  const claims = wishes.flat();
  const peers = candidates.map(wholePeer);
  return {
    candidates,
    wishes,
    claims,
    alone: settleClaims(claims),
    extent: rangesOf(claims.map(({ route }) => route)),
    endpoints: rangesOf(candidates.flatMap(({ endpoint }) => endpointRoutes(endpoint))),
    peers: peers.filter(isRouted),
    unsettled: peers.filter((peer, index) => isRouted(peer) && !isThere(peer, helds[index])),
    isNamed: candidates.every(({ name }, index) => helds[index]?.name === name),
  };
}

/** A Peer without routes is none. */
export const isRouted = ({ routes }: Peer): boolean => routes.length > 0;

const isThere = (peer: Peer, held: HeldPeer | undefined): boolean => held !== undefined && samePeer(peer, held);

/** With all that it wants. */
export const wholePeer = onceFor((candidate: Candidate) =>
  asPeer(candidate, { routes: exactly(aggregate(candidate.routes)), inPieces: false }),
);

export function asPeer(candidate: Candidate, { routes, inPieces }: Pick<Peer, "routes" | "inPieces">): Peer {
  const { name, publicKey, endpoint, keepaliveSeconds, mesh, source, node, owners } = candidate;
  const { touchPending, declared, move, mayLackEndpoint } = candidate;
  const written = { name, publicKey, endpoint, routes, keepaliveSeconds, mesh, source, node, owners };
  return { ...written, touchPending, declared, move, mayLackEndpoint, inPieces };
}

function claimsOf(candidate: Candidate, held: HeldPeer | undefined): readonly Claim[] {
  const there = routesOf(held);
  const isIncumbent = candidate.routes.map((route) => there.covers(route));
  if (isIncumbent.every(Boolean)) return incumbentClaims(candidate);
  return candidate.routes.map((route, index) => claimFor(candidate, route, isIncumbent[index] ?? false));
}

/** Of a Peer that is as it should be: so nearly all are. */
const incumbentClaims = onceFor((candidate: Candidate): readonly Claim[] =>
  candidate.routes.map((route) => claimFor(candidate, route, true)),
);

function claimFor({ publicKey, cluster, rank }: Candidate, route: Cidr, incumbent: boolean): Claim {
  return { peer: publicKey, cluster, route, incumbent, rank };
}
