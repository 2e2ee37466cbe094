import { type Cidr, formatIp, hostRoute, type IpAddress, parseIp } from "./cidr.ts";
import { onceFor, oneCopy } from "./once-per.ts";

/** Where a node's WireGuard answers. */
export interface Endpoint {
  readonly host: { readonly ip: string } | { readonly dns: string };
  readonly port: number;
}

/** `host:port` with an IPv6 host in brackets, as Kilo's and our annotations write it. Undefined if malformed. */
export function parseEndpoint(text: string): Endpoint | undefined {
  const parts = /^(?:\[([^\][]+)\]|([^\][:]+)):(\d{1,5})$/.exec(text);
  const host = parts?.[1] ?? parts?.[2];
  const port = Number(parts?.[3]);
  if (!host || !isPort(port)) return undefined;
  const address = parseIp(host);
  if (address) return endpointAt(address, port);
  return isDnsName(host) ? { host: { dns: host.toLowerCase() }, port } : undefined;
}

export function endpointAt(address: IpAddress, port: number): Endpoint {
  return { host: { ip: oneCopy(formatIp(address)) }, port };
}

export function sameEndpoint(a: Endpoint | undefined, b: Endpoint | undefined): boolean {
  if (!a || !b) return a === b;
  return a.port === b.port && hostText(a) === hostText(b);
}

/** What `parseEndpoint` reads. */
export function endpointText(endpoint: Endpoint): string {
  const host = hostText(endpoint);
  return host.includes(":") ? `[${host}]:${endpoint.port}` : `${host}:${endpoint.port}`;
}

/** The route of its address; none for a name. */
export const endpointRoutes = onceFor((endpoint: Endpoint): readonly Cidr[] => {
  const address = parseIp(hostText(endpoint));
  return address ? [hostRoute(address)] : [];
});

export function hostText({ host }: Endpoint): string {
  return "ip" in host ? host.ip : host.dns;
}

const isPort = (port: number): boolean => Number.isInteger(port) && port >= 1 && port <= 65535;

/** RFC 1123, and not all digits and dots: such a text is an address that somebody mistyped. */
function isDnsName(text: string): boolean {
  return (
    text.length <= 253 &&
    !/^[\d.]+$/.test(text) &&
    text.split(".").every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i.test(label))
  );
}

const nowhere = "192.0.2.1";

/** An address that nobody has: a Peer without any endpoint would hide changes of other Peers from Kilo. */
export function nowhereAt(port: number): Endpoint {
  return { host: { ip: nowhere }, port };
}

export const isNowhere = (endpoint: Endpoint): boolean => hostText(endpoint) === nowhere;
