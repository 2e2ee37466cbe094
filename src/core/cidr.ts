export type Family = 4 | 6;

/** A network in canonical form: `base` has no bit set behind `prefix`. Equal networks have equal `text`. */
export interface Cidr {
  readonly family: Family;
  readonly base: bigint;
  readonly prefix: number;
  readonly text: string;
}

export interface IpAddress {
  readonly family: Family;
  readonly value: bigint;
}

const widthOf = (family: Family): number => (family === 4 ? 32 : 128);

/** Strict as Go's netip: no octal, no missing parts, no zone, no leading zero in the prefix. Host bits are masked. */
export function parseCidr(text: string): Cidr | undefined {
  const found = splitCidr(text);
  return found && network(found.address, found.prefix);
}

/** Those of the texts that are networks. */
export function networksIn(texts: readonly string[]): Cidr[] {
  return texts.flatMap((text) => parseCidr(text) ?? []);
}

/** The address before the slash, with its host bits: Kilo writes a node's WireGuard IP as `10.4.0.1/16`. */
export function parseHostInCidr(text: string): IpAddress | undefined {
  return splitCidr(text)?.address;
}

/** An IPv4 address, or an IPv6 one; an IPv4-mapped IPv6 address is the IPv4 address it means. */
export function parseIp(text: string): IpAddress | undefined {
  const v4 = parseIpv4(text);
  if (v4 !== undefined) return { family: 4, value: v4 };
  const v6 = parseIpv6(text);
  if (v6 === undefined) return undefined;
  return v6 >> 32n === 0xffffn ? { family: 4, value: v6 & 0xffff_ffffn } : { family: 6, value: v6 };
}

/** False for what another machine cannot be: unspecified, loopback, link-local and multicast addresses. */
export function isReachable({ family, value }: IpAddress): boolean {
  if (value === 0n) return false;
  if (family === 4) return ![0n, 127n].includes(value >> 24n) && value >> 16n !== 0xa9fen && value >> 28n < 14n;
  return value !== 1n && value >> 118n !== 0x3fan && value >> 120n !== 0xffn;
}

export function hostRoute(address: IpAddress): Cidr {
  return network(address, widthOf(address.family));
}

export function contains(outer: Cidr, inner: Cidr): boolean {
  return outer.family === inner.family && outer.prefix <= inner.prefix && sameBits(outer, inner.base);
}

export function containsIp(outer: Cidr, address: IpAddress): boolean {
  return outer.family === address.family && sameBits(outer, address.value);
}

export function overlaps(a: Cidr, b: Cidr): boolean {
  return contains(a, b) || contains(b, a);
}

/** IPv4 before IPv6, then by address, then the wider one: the order of every list of routes we write. */
export function compareCidrs(a: Cidr, b: Cidr): number {
  if (a.family !== b.family) return a.family - b.family;
  if (a.base !== b.base) return a.base < b.base ? -1 : 1;
  return a.prefix - b.prefix;
}

export function formatIp({ family, value }: IpAddress): string {
  return family === 4 ? formatIpv4(value) : formatIpv6(value);
}

function splitCidr(text: string): { address: IpAddress; prefix: number } | undefined {
  const slash = text.indexOf("/");
  const digits = text.slice(slash + 1);
  if (slash < 0 || !/^(0|[1-9]\d{0,2})$/.test(digits)) return undefined;
  const address = parseIp(text.slice(0, slash));
  if (!address) return undefined;
  const mapped = address.family === 4 && text.includes(":");
  const prefix = Number(digits) - (mapped ? 96 : 0);
  return prefix >= 0 && prefix <= widthOf(address.family) ? { address, prefix } : undefined;
}

function network({ family, value }: IpAddress, prefix: number): Cidr {
  const hostBits = BigInt(widthOf(family) - prefix);
  const base = (value >> hostBits) << hostBits;
  return { family, base, prefix, text: `${formatIp({ family, value: base })}/${prefix}` };
}

/** The network of which the two are the halves, if they are. Nothing becomes the default route, and hosts stay hosts. */
export function joinHalves(a: Cidr, b: Cidr): Cidr | undefined {
  if (a.family !== b.family || a.prefix !== b.prefix || a.base === b.base) return undefined;
  if (a.prefix <= 1 || isHost(a)) return undefined;
  const whole = network({ family: a.family, value: a.base }, a.prefix - 1);
  return contains(whole, b) ? whole : undefined;
}

/** The two halves of a network; a host is one piece. */
export function halvesOf(whole: Cidr): Cidr[] {
  if (isHost(whole)) return [whole];
  const { family, base } = whole;
  const prefix = whole.prefix + 1;
  const upper = base | (1n << BigInt(widthOf(family) - prefix));
  return [base, upper].map((value) => network({ family, value }, prefix));
}

/** One address alone. */
export function isHost({ family, prefix }: Cidr): boolean {
  return prefix === widthOf(family);
}

function sameBits(outer: Cidr, value: bigint): boolean {
  const hostBits = BigInt(widthOf(outer.family) - outer.prefix);
  return value >> hostBits === outer.base >> hostBits;
}

function parseIpv4(text: string): bigint | undefined {
  const parts = text.split(".");
  if (parts.length !== 4) return undefined;
  let value = 0n;
  for (const part of parts) {
    if (!/^(0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return undefined;
    value = (value << 8n) | BigInt(part);
  }
  return value;
}

function parseIpv6(text: string): bigint | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const head = groupsOf(halves[0] ?? "", halves.length === 1);
  const tail = groupsOf(halves[1] ?? "", true);
  if (!head || !tail) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  return [...head, ...Array<bigint>(missing).fill(0n), ...tail].reduce((value, group) => (value << 16n) | group, 0n);
}

/** The 16-bit groups of one side of `::`. Only the last side may end in a dotted IPv4 address. */
function groupsOf(text: string, isLastSide: boolean): bigint[] | undefined {
  if (text === "") return [];
  const groups: bigint[] = [];
  const parts = text.split(":");
  for (const [index, part] of parts.entries()) {
    const v4 = isLastSide && index === parts.length - 1 ? parseIpv4(part) : undefined;
    if (v4 !== undefined) groups.push(v4 >> 16n, v4 & 0xffffn);
    else if (/^[0-9a-fA-F]{1,4}$/.test(part)) groups.push(BigInt(`0x${part}`));
    else return undefined;
  }
  return groups;
}

function formatIpv4(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join(".");
}

/** RFC 5952: lower case, no leading zeros, the longest run of two or more zero groups (the first of equals) as `::`. */
function formatIpv6(value: bigint): string {
  const groups = Array.from({ length: 8 }, (_, index) => ((value >> BigInt(112 - 16 * index)) & 0xffffn).toString(16));
  const run = longestZeroRun(groups);
  if (run.length < 2) return groups.join(":");
  return `${groups.slice(0, run.start).join(":")}::${groups.slice(run.start + run.length).join(":")}`;
}

function longestZeroRun(groups: readonly string[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  let start = 0;
  for (const [index, group] of groups.entries()) {
    if (group !== "0") start = index + 1;
    else if (index + 1 - start > best.length) best = { start, length: index + 1 - start };
  }
  return best;
}
