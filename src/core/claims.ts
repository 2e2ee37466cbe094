import { type Cidr, compareCidrs, contains } from "./cidr.ts";

/** A route that somebody wants in a target. */
export interface Claim {
  /** Which Peer: its public key. */
  readonly peer: string;
  /** Which cluster: routes of one may nest, those of two may not. */
  readonly cluster: string;
  readonly route: Cidr;
  /** True when the route is on that Peer already. It works, so it stays. */
  readonly incumbent: boolean;
  /** Among newcomers the smallest has it. */
  readonly rank: string;
}

export interface RefusedClaim {
  readonly claim: Claim;
  readonly by: Claim;
}

export interface Settlement {
  readonly granted: readonly Claim[];
  readonly refused: readonly RefusedClaim[];
}

/**
 * Gives each route to one Peer. Identical routes on two Peers, or nested ones of two clusters, would make traffic follow a
 * name or a prefix length: the incumbent wins, then the rank. Nobody can take a route away by declaring it.
 */
export function settleClaims(claims: readonly Claim[]): Settlement {
  const rivals = rivalsOf(claims);
  const granted = new Set<Claim>();
  const refused: RefusedClaim[] = [];
  for (const claim of [...claims].sort(byRight)) {
    const by = rivals.get(claim)?.find((rival) => granted.has(rival));
    if (by) refused.push({ claim, by });
    else granted.add(claim);
  }
  return { granted: claims.filter((claim) => granted.has(claim)), refused };
}

/** The Peers of which a route lies inside one of another Peer, or around it: the lengths of their prefixes matter. */
export function entangledPeers(claims: readonly Claim[]): Set<string> {
  const entangled = new Set<string>();
  for (const [around, inner] of nestings(claims)) {
    if (around.peer === inner.peer) continue;
    entangled.add(around.peer);
    entangled.add(inner.peer);
  }
  return entangled;
}

function byRight(a: Claim, b: Claim): number {
  if (a.incumbent !== b.incumbent) return a.incumbent ? -1 : 1;
  if (a.rank !== b.rank) return a.rank < b.rank ? -1 : 1;
  return a.peer < b.peer ? -1 : a.peer > b.peer ? 1 : compareCidrs(a.route, b.route);
}

/** Who stands in whose way. */
function rivalsOf(claims: readonly Claim[]): ReadonlyMap<Claim, Claim[]> {
  const rivals = new Map<Claim, Claim[]>();
  for (const [around, claim] of nestings(claims)) {
    if (!areRivals(around, claim)) continue;
    rivals.set(claim, [...(rivals.get(claim) ?? []), around]);
    rivals.set(around, [...(rivals.get(around) ?? []), claim]);
  }
  return rivals;
}

/** Every pair of routes of which the first contains the second. One sweep: those around a route are open when it comes. */
function* nestings(claims: readonly Claim[]): Generator<readonly [around: Claim, inner: Claim]> {
  let open: Claim[] = [];
  for (const claim of [...claims].sort((a, b) => compareCidrs(a.route, b.route))) {
    open = open.filter(({ route }) => contains(route, claim.route));
    for (const around of open) yield [around, claim];
    open.push(claim);
  }
}

function areRivals(a: Claim, b: Claim): boolean {
  if (a.peer === b.peer) return false;
  return a.cluster !== b.cluster || a.route.text === b.route.text;
}
