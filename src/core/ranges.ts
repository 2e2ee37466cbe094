import { type Cidr, type Family, hostRoute, type IpAddress } from "./cidr.ts";

/** A set of addresses that can be asked, in logarithmic time, whether a network touches it. */
export interface Ranges {
  touches(network: Cidr): boolean;
}

interface Range {
  readonly first: bigint;
  last: bigint;
}

export function rangesOf(networks: readonly Cidr[], addresses: readonly IpAddress[] = []): Ranges {
  const all = [...networks, ...addresses.map(hostRoute)];
  const byFamily: Readonly<Record<Family, readonly Range[]>> = { 4: joined(all, 4), 6: joined(all, 6) };
  return { touches: (network) => isTouched(byFamily[network.family], rangeOf(network)) };
}

function rangeOf({ family, base, prefix }: Cidr): Range {
  const hostBits = BigInt((family === 4 ? 32 : 128) - prefix);
  return { first: base, last: base | ((1n << hostBits) - 1n) };
}

/** Sorted and disjoint. */
function joined(networks: readonly Cidr[], family: Family): Range[] {
  const sorted = networks
    .filter((network) => network.family === family)
    .map(rangeOf)
    .sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0));
  const ranges: Range[] = [];
  for (const range of sorted) {
    const before = ranges.at(-1);
    if (!before || range.first > before.last) ranges.push(range);
    else if (range.last > before.last) before.last = range.last;
  }
  return ranges;
}

/** Only the last range that begins before the end of the other can touch it. */
function isTouched(ranges: readonly Range[], { first, last }: Range): boolean {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ranges[middle]?.first ?? 0n) <= last) low = middle + 1;
    else high = middle;
  }
  const candidate = ranges[low - 1];
  return candidate !== undefined && candidate.last >= first;
}
