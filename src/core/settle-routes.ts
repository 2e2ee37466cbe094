import { networksIn } from "./cidr.ts";
import { type Claim, entangledPeers, type RefusedClaim, settleClaims } from "./claims.ts";
import { endpointRoutes } from "./endpoint.ts";
import type { ConnectionId } from "./ids.ts";
import type { KeptPeer } from "./kept.ts";
import type { HeldPeer, Peer } from "./peer.ts";
import { mayRoute, protectionOf } from "./protect.ts";
import { aggregate } from "./ranges.ts";
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
  readonly refused: readonly RefusedClaim[];
  /** Nobody objects: the Peers are those of the stakes. */
  readonly isPeaceful: boolean;
}

/** Each Peer with the routes that the target can bear and nobody else has. */
export function settleRoutes(input: RoutesInput): SettledRoutes {
  const { stakes } = input;
  const claims = stakes.flatMap((stake) => stake.claims);
  const unbearable = unbearableAmong(claims, input);
  const bearable = unbearable.size === 0 ? claims : claims.filter((claim) => !unbearable.has(claim));
  const settled = settleClaims([...bearable, ...claimsOfOthers(input)]);
  const lost = new Set([...unbearable, ...settled.refused.map(({ claim }) => claim)]);
  const entangled = entangledPeers(settled);
  const isPeaceful = lost.size === 0 && entangled.size === 0;
  const peers = stakes.flatMap((stake) => (isPeaceful ? stake.peers : partsOf(stake, lost, entangled)));
  return { peers, refused: settled.refused, isPeaceful };
}

function unbearableAmong(claims: readonly Claim[], input: RoutesInput): ReadonlySet<Claim> {
  const { world, target, stakes, foreign, kept } = input;
  const others = [...foreign, ...kept.map(({ held }) => held)];
  const elsewhere = others.flatMap(({ endpoint }) => (endpoint ? endpointRoutes(endpoint) : []));
  const endpoints = [...stakes.flatMap((stake) => stake.endpoints), ...elsewhere];
  const protection = protectionOf(world, target, endpoints);
  return new Set(claims.filter(({ route }) => !mayRoute(protection, route)));
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
function partsOf({ candidates, wishes }: Stake, lost: ReadonlySet<Claim>, entangled: ReadonlySet<string>): Peer[] {
  const peers = candidates.map((candidate, index): Peer => {
    const inPieces = entangled.has(candidate.publicKey);
    const wish = wishes[index] ?? [];
    if (!inPieces && !wish.some((claim) => lost.has(claim))) return wholePeer(candidate);
    const routes = wish.filter((claim) => !lost.has(claim)).map(({ route }) => route);
    return asPeer(candidate, { routes: inPieces ? routes : aggregate(routes), inPieces });
  });
  return peers.filter(isRouted);
}
