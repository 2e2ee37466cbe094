import { type Cidr, exactly, networksIn } from "./cidr.ts";
import { type Claim, entangledPeers, type RefusedClaim, settleClaims } from "./claims.ts";
import { endpointRoutes } from "./endpoint.ts";
import type { ConnectionId } from "./ids.ts";
import type { KeptPeer } from "./kept.ts";
import { onceFor } from "./once-per.ts";
import { type HeldPeer, type Peer, routesOf } from "./peer.ts";
import { mayRoute, protectionOf } from "./protect.ts";
import { aggregate } from "./ranges.ts";
import type { Candidate } from "./render.ts";
import type { World } from "./world.ts";

export interface Settling {
  readonly world: World;
  readonly target: ConnectionId;
  readonly candidates: readonly Candidate[];
  /** The Peer of ours that holds each key. */
  readonly heldByKey: ReadonlyMap<string, HeldPeer>;
  /** The Peers that are not ours. */
  readonly foreign: readonly HeldPeer[];
  readonly kept: readonly KeptPeer[];
}

export interface SettledRoutes {
  readonly peers: readonly Peer[];
  readonly refused: readonly RefusedClaim[];
}

/** Each Peer with the routes that the target can bear and nobody else has. */
export function settleRoutes({ world, target, candidates, foreign, kept, heldByKey }: Settling): SettledRoutes {
  const all = [...candidates, ...foreign, ...kept.map(({ held }) => held)];
  const endpoints = all.flatMap(({ endpoint }) => (endpoint ? endpointRoutes(endpoint) : []));
  const protection = protectionOf(world, target, endpoints);
  const wishes = candidates.map((candidate) => claimsOf(candidate, heldByKey.get(candidate.publicKey)));
  const claims = wishes.flat();
  const unbearable = new Set(claims.filter(({ route }) => !mayRoute(protection, route)));
  const others = [
    ...foreign.flatMap((held) => incumbents(held, held.allowedIps, held.publicKey)),
    ...kept.flatMap(({ held, routes, cluster }) => incumbents(held, routes, cluster ?? held.publicKey)),
  ];
  const bearable = unbearable.size === 0 ? claims : claims.filter((claim) => !unbearable.has(claim));
  const settled = settleClaims([...bearable, ...others]);
  const lost = new Set([...unbearable, ...settled.refused.map(({ claim }) => claim)]);
  const entangled = entangledPeers(settled);
  const peers = candidates.map((candidate, index): Peer => {
    const inPieces = entangled.has(candidate.publicKey);
    const wish = wishes[index] ?? [];
    if (!inPieces && !wish.some((claim) => lost.has(claim))) return wholePeer(candidate);
    const routes = wish.filter((claim) => !lost.has(claim)).map(({ route }) => route);
    return asPeer(candidate, { routes: inPieces ? routes : aggregate(routes), inPieces });
  });
  return { peers: peers.filter(({ routes }) => routes.length > 0), refused: settled.refused };
}

/** With all that it wants. */
const wholePeer = onceFor((candidate: Candidate) =>
  asPeer(candidate, { routes: exactly(aggregate(candidate.routes)), inPieces: false }),
);

function asPeer(candidate: Candidate, { routes, inPieces }: Pick<Peer, "routes" | "inPieces">): Peer {
  const { name, publicKey, endpoint, keepaliveSeconds, mesh, source, node, owners } = candidate;
  const { touchPending, declared, move, mayLackEndpoint } = candidate;
  const written = { name, publicKey, endpoint, routes, keepaliveSeconds, mesh, source, node, owners };
  return { ...written, touchPending, declared, move, mayLackEndpoint, inPieces };
}

function claimsOf(candidate: Candidate, held: HeldPeer | undefined): readonly Claim[] {
  const there = routesOf(held);
  const isThere = candidate.routes.map((route) => there.covers(route));
  if (isThere.every(Boolean)) return incumbentClaims(candidate);
  return candidate.routes.map((route, index) => claimFor(candidate, route, isThere[index] ?? false));
}

/** Of a Peer that is as it should be: so nearly all are. */
const incumbentClaims = onceFor((candidate: Candidate): readonly Claim[] =>
  candidate.routes.map((route) => claimFor(candidate, route, true)),
);

function claimFor({ publicKey, cluster, rank }: Candidate, route: Cidr, incumbent: boolean): Claim {
  return { peer: publicKey, cluster, route, incumbent, rank };
}

/** What is on a Peer that we do not plan now is there, and works. */
function incumbents({ publicKey }: HeldPeer, allowedIps: readonly string[], cluster: string): Claim[] {
  return networksIn(allowedIps).map((route) => ({ peer: publicKey, cluster, route, incumbent: true, rank: "" }));
}
