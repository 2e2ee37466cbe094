import { type Cidr, compareCidrs, contains } from "./cidr.ts";
import { compareTexts } from "./texts.ts";

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
  /** Of all meshes that want it, the smallest first; absent where it is one. */
  readonly ranks?: readonly string[];
}

/** A claim that has to wait for somebody else. */
export interface HeldClaim {
  readonly claim: Claim;
}

export interface RefusedClaim extends HeldClaim {
  readonly by: Claim;
}

export interface Settlement {
  /** In the order of routes. */
  readonly granted: readonly Claim[];
  readonly refused: readonly RefusedClaim[];
  /** The Peers of which a route lies inside one of another Peer, or around it: the lengths of their prefixes matter. */
  readonly entangled: ReadonlySet<string>;
}

/**
 * Gives each route to one Peer. Identical routes on two Peers, or nested ones of two clusters, would make traffic follow a
 * name or a prefix length: the incumbent wins, then the rank. Nobody can take a route away by declaring it.
 */
export function settleClaims(claims: readonly Claim[]): Settlement {
  const sorted = claims.toSorted(byRoute);
  // Nearly always nobody wants what another has, and one sweep tells.
  const isDisputed = someNesting(sorted, isRivalry);
  const { granted, refused } = isDisputed ? settleRivals(claims, sorted) : { granted: sorted, refused: [] };
  return { granted, refused, entangled: entangledAmong(granted) };
}

function entangledAmong(sorted: readonly Claim[]): Set<string> {
  const entangled = new Set<string>();
  someNesting(sorted, (around, inner) => {
    if (around.peer !== inner.peer) entangled.add(around.peer).add(inner.peer);
    return false;
  });
  return entangled;
}

function settleRivals(claims: readonly Claim[], sorted: readonly Claim[]): Omit<Settlement, "entangled"> {
  const nested = nestedTexts(sorted);
  const holders = new Map<string, Claim>();
  const granted = new Set<Claim>();
  const refused: RefusedClaim[] = [];
  for (const claim of claims.toSorted(byRight)) {
    const by = rivalOf(claim, holders, nested);
    if (by) refused.push({ claim, by });
    else granted.add(claim);
    if (!by && !holders.has(claim.route.text)) holders.set(claim.route.text, claim);
  }
  return { granted: sorted.filter((claim) => granted.has(claim)), refused };
}

const byRoute = (a: Claim, b: Claim): number => compareCidrs(a.route, b.route);

const isRivalry = (a: Claim, b: Claim): boolean =>
  a.peer !== b.peer && (a.cluster !== b.cluster || a.route.text === b.route.text);

function byRight(a: Claim, b: Claim): number {
  if (a.incumbent !== b.incumbent) return a.incumbent ? -1 : 1;
  return compareTexts(a.rank, b.rank) || compareTexts(a.peer, b.peer) || compareCidrs(a.route, b.route);
}

/** Who has what the claim wants: the very route, or as another cluster one around it or inside. */
function rivalOf(
  { peer, cluster, route }: Claim,
  holders: ReadonlyMap<string, Claim>,
  nested: ReadonlyMap<string, readonly string[]>,
): Claim | undefined {
  const same = holders.get(route.text);
  if (same && same.peer !== peer) return same;
  for (const text of nested.get(route.text) ?? []) {
    const other = holders.get(text);
    if (other && other.peer !== peer && other.cluster !== cluster) return other;
  }
  return undefined;
}

/** For each route those around it and those inside. Each route counts once, however many claim it. */
function nestedTexts(sorted: readonly Claim[]): ReadonlyMap<string, readonly string[]> {
  const nested = new Map<string, string[]>();
  const note = (text: string, other: string): void => {
    const known = nested.get(text);
    if (known) known.push(other);
    else nested.set(text, [other]);
  };
  const routes = new Map(sorted.map((claim) => [claim.route.text, claim]));
  someNesting([...routes.values()], (around, inner) => {
    note(around.route.text, inner.route.text);
    note(inner.route.text, around.route.text);
    return false;
  });
  return nested;
}

/**
 * Asks of every pair of which the first contains the second, until one is found. One sweep in order: those around a route
 * are open when it comes.
 */
function someNesting(sorted: readonly Claim[], isFound: (around: Claim, inner: Claim) => boolean): boolean {
  const open: Claim[] = [];
  return sorted.some((claim) => {
    for (let last = open.at(-1); last && !contains(last.route, claim.route); last = open.at(-1)) open.pop();
    if (open.length > 0 && open.some((around) => isFound(around, claim))) return true;
    open.push(claim);
    return false;
  });
}
