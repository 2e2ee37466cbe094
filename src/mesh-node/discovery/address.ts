import { isIPv4, isIPv6, SocketAddress } from "node:net";

/** The one spelling of an IP address, or nothing when it is none. One with a zone means something only on the machine that wrote it. */
export function canonicalIp(address: string): string | undefined {
  if (isIPv4(address)) return address;
  if (!isIPv6(address) || address.includes("%")) return undefined;
  return new SocketAddress({ address, family: "ipv6" }).address;
}

/** `ip:port`, with brackets around IPv6. */
export function addressText(ip: string, port: number): string {
  return ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`;
}
