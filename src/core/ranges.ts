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

/** A set of addresses that can be asked in logarithmic time. */
export interface Ranges {
  touches(network: Cidr): boolean;
  /** All of the network is in it, also where no single member contains it. */
  covers(network: Cidr): boolean;
  /** What of the network is in it, in the fewest pieces. */
  within(network: Cidr): readonly Cidr[];
}

interface Range {
  readonly first: Address;
  last: Address;
}

export function rangesOf(networks: readonly Cidr[], addresses: readonly IpAddress[] = []): Ranges {
  const all = [...networks, ...addresses.map(hostRoute)];
  const byFamily: Readonly<Record<Family, readonly Range[]>> = { 4: joined(all, 4), 6: joined(all, 6) };
  const before = ({ family, last }: Cidr): Range | undefined => lastBefore(byFamily[family], last);
  const touches = (network: Cidr): boolean => (before(network)?.last ?? -1) >= network.first;
  const covers = (network: Cidr): boolean => {
    const range = before(network);
    return range !== undefined && range.first <= network.first && range.last >= network.last;
  };
  const within = (network: Cidr): readonly Cidr[] => {
    if (covers(network)) return [network];
    return touches(network) ? halvesOf(network).flatMap(within) : [];
  };
  return { touches, covers, within };
}

/** Sorted, disjoint and apart from each other. */
function joined(networks: readonly Cidr[], family: Family): Range[] {
  const sorted = networks
    .filter((network) => network.family === family)
    .sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0));
  const ranges: Range[] = [];
  for (const { first, last } of sorted) {
    const before = ranges.at(-1);
    if (!before || first > successor(before.last)) ranges.push({ first, last });
    else if (last > before.last) before.last = last;
  }
  return ranges;
}

/** The last range that begins before the end of another: the only one that can touch it. */
function lastBefore(ranges: readonly Range[], end: Address): Range | undefined {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ranges[middle]?.first ?? 0) <= end) low = middle + 1;
    else high = middle;
  }
  return ranges[low - 1];
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
