import { formatIpv4, formatIpv6, parseIpv4, parseIpv6 } from "./ip-text.ts";
import { oneCopy } from "./once-per.ts";

export type Family = 4 | 6;

/** A number for IPv4, a bigint for IPv6: plans compare thousands of them, and only with their own kind. */
export type Address = number | bigint;

/** A network in canonical form: `first` has no bit set behind `prefix`. Equal networks have equal `text`. */
export interface Cidr {
  readonly family: Family;
  readonly first: Address;
  readonly last: Address;
  readonly prefix: number;
  readonly text: string;
}

export type IpAddress = { readonly family: 4; readonly value: number } | { readonly family: 6; readonly value: bigint };

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
  return v6 >> 32n === 0xffffn ? { family: 4, value: Number(v6 & 0xffff_ffffn) } : { family: 6, value: v6 };
}

/** False for what another machine cannot be: unspecified, loopback, link-local and multicast addresses. */
export function isReachable({ family, value }: IpAddress): boolean {
  if (family === 4) return ![0, 127].includes(value >>> 24) && value >>> 16 !== 0xa9fe && value >>> 28 < 14;
  return value > 1n && value >> 118n !== 0x3fan && value >> 120n !== 0xffn;
}

export function hostRoute(address: IpAddress): Cidr {
  return network(address, widthOf(address.family));
}

export function contains(outer: Cidr, inner: Cidr): boolean {
  return outer.family === inner.family && outer.first <= inner.first && inner.last <= outer.last;
}

export function containsIp(outer: Cidr, address: IpAddress): boolean {
  return outer.family === address.family && outer.first <= address.value && address.value <= outer.last;
}

export function overlaps(a: Cidr, b: Cidr): boolean {
  return contains(a, b) || contains(b, a);
}

/** A copy without the room to grow in that filtering leaves: lists of a few routes are kept for thousands of nodes. */
export function exactly<T>(list: readonly T[]): readonly T[] {
  return [...list];
}

/** Each route once, in the order of routes. */
export function uniqueRoutes(cidrs: readonly Cidr[]): readonly Cidr[] {
  const sorted = [...cidrs].sort(compareCidrs);
  return exactly(sorted.filter(({ text }, index) => text !== sorted[index - 1]?.text));
}

/** IPv4 before IPv6, then by address, then the wider one: the order of every list of routes we write. */
export function compareCidrs(a: Cidr, b: Cidr): number {
  if (a.family !== b.family) return a.family - b.family;
  if (a.first !== b.first) return a.first < b.first ? -1 : 1;
  return a.prefix - b.prefix;
}

export function formatIp({ family, value }: IpAddress): string {
  return family === 4 ? formatIpv4(value) : formatIpv6(value);
}

/** The address that follows. */
export function successor(address: Address): Address {
  return typeof address === "number" ? address + 1 : address + 1n;
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

function network(address: IpAddress, prefix: number): Cidr {
  if (address.family === 4) {
    const size = 2 ** (32 - prefix);
    const first = address.value - (address.value % size);
    return { family: 4, first, last: first + size - 1, prefix, text: networkText(formatIpv4(first), prefix) };
  }
  const hostBits = BigInt(128 - prefix);
  const first = (address.value >> hostBits) << hostBits;
  const last = first | ((1n << hostBits) - 1n);
  return { family: 6, first, last, prefix, text: networkText(formatIpv6(first), prefix) };
}

/** Joined, not concatenated: V8 would keep the parts of each of thousands. Peers that hold the network repeat it. */
const networkText = (address: string, prefix: number): string => oneCopy([address, prefix].join("/"));

/** An address is of the kind that its family says. */
function networkAt(family: Family, address: Address, prefix: number): Cidr {
  return network({ family, value: address } as IpAddress, prefix);
}

/** The network of which the two are the halves, if they are. Nothing becomes the default route, and hosts stay hosts. */
export function joinHalves(a: Cidr, b: Cidr): Cidr | undefined {
  if (a.family !== b.family || a.prefix !== b.prefix || a.first === b.first) return undefined;
  if (a.prefix <= 1 || isHost(a)) return undefined;
  const whole = networkAt(a.family, a.first, a.prefix - 1);
  return contains(whole, b) ? whole : undefined;
}

/** The two halves of a network; a host is one piece. */
export function halvesOf(whole: Cidr): Cidr[] {
  if (isHost(whole)) return [whole];
  const lower = networkAt(whole.family, whole.first, whole.prefix + 1);
  return [lower, networkAt(whole.family, successor(lower.last), lower.prefix)];
}

/** One address alone. */
export function isHost({ family, prefix }: Cidr): boolean {
  return prefix === widthOf(family);
}
