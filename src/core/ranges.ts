import {
  type Address,
  type Cidr,
  compareCidrs,
  contains,
  type Family,
  halvesOf,
  hostRoute,
  type IpAddress,
  joinHalves,
  successor,
} from "./cidr.ts";
import { onceForBoth } from "./once-per.ts";

/** Addresses in a row. */
export interface Span {
  readonly family: Family;
  readonly first: Address;
  readonly last: Address;
}

/** A set of addresses that can be asked in logarithmic time. */
export interface Ranges {
  /** Sorted, disjoint and apart from each other. */
  readonly spans: readonly Span[];
  touches(span: Span): boolean;
  /** All of it is in the set, also where no single member contains it. */
  covers(span: Span): boolean;
  /** What of the network is in it, in the fewest pieces. */
  within(network: Cidr): readonly Cidr[];
}

export function rangesOf(networks: readonly Cidr[], addresses: readonly IpAddress[] = []): Ranges {
  const all = [...networks, ...addresses.map(hostRoute)];
  const byFamily: Readonly<Record<Family, readonly Span[]>> = { 4: joined(all, 4), 6: joined(all, 6) };
  const before = ({ family, last }: Span): Span | undefined => lastBefore(byFamily[family], last);
  const touches = (span: Span): boolean => (before(span)?.last ?? -1) >= span.first;
  const covers = (span: Span): boolean => {
    const found = before(span);
    return found !== undefined && found.first <= span.first && found.last >= span.last;
  };
  const within = (network: Cidr): readonly Cidr[] => {
    if (covers(network)) return [network];
    return touches(network) ? halvesOf(network).flatMap(within) : [];
  };
  return { spans: [...byFamily[4], ...byFamily[6]], touches, covers, within };
}

/** They have addresses in common. */
export const meet = onceForBoth((some: Ranges, others: Ranges): boolean => some.spans.some(others.touches));

/** Gives the set before again while the next has the same addresses: so much is asked of it only once. */
export function steadyRanges(): (next: Ranges) => Ranges {
  let last: Ranges | undefined;
  return (next) => {
    if (!last || !sameSpans(last.spans, next.spans)) last = next;
    return last;
  };
}

function sameSpans(some: readonly Span[], others: readonly Span[]): boolean {
  const isSame = ({ family, first, last }: Span, { family: of, first: from, last: to }: Span): boolean =>
    family === of && first === from && last === to;
  return some.length === others.length && some.every((span, index) => isSame(span, others[index] ?? span));
}

function joined(networks: readonly Cidr[], family: Family): Span[] {
  const sorted = networks
    .filter((network) => network.family === family)
    .sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0));
  const spans: (Span & { last: Address })[] = [];
  for (const { first, last } of sorted) {
    const before = spans.at(-1);
    if (!before || first > successor(before.last)) spans.push({ family, first, last });
    else if (last > before.last) before.last = last;
  }
  return spans;
}

/** The last span that begins before the end of another: the only one that can touch it. */
function lastBefore(spans: readonly Span[], end: Address): Span | undefined {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((spans[middle]?.first ?? 0) <= end) low = middle + 1;
    else high = middle;
  }
  return spans[low - 1];
}

/**
 * The fewest networks with exactly the same addresses, in the order of routes; hosts are not joined. In the flat form a
 * node may bring hosts that nobody declared, and what is left of it must still tell them from a network.
 */
export function aggregate(networks: readonly Cidr[]): Cidr[] {
  const wide: Cidr[] = [];
  for (const network of [...networks].sort(compareCidrs)) {
    const last = wide.at(-1);
    if (!last || !contains(last, network)) push(wide, network);
  }
  return wide;
}

function push(wide: Cidr[], network: Cidr): void {
  const last = wide.at(-1);
  const whole = last && joinHalves(last, network);
  if (whole) {
    wide.pop();
    push(wide, whole);
  } else wide.push(network);
}
