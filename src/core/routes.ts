import { type Cidr, contains, hostRoute, networksIn, parseIp } from "./cidr.ts";
import { declaredNetworks, type MeshEntry, podNetworks } from "./mesh.ts";
import type { NodeFacts } from "./node.ts";

/** The node's pod networks that its entry declares. */
export function podsOf(entry: MeshEntry, { podCidrs }: NodeFacts): Cidr[] {
  return networksIn(podCidrs).filter((cidr) => isInside(podNetworks(entry), cidr));
}

/** The node's own addresses. Typed form: only what the entry declares. Flat form: all of them, as the Go operator does. */
export function hostsOf(entry: MeshEntry, { internalIps }: NodeFacts): Cidr[] {
  const hosts = internalIps.flatMap((text) => parseIp(text) ?? []).map(hostRoute);
  return entry.networks.form === "flat" ? hosts : hosts.filter((host) => isInside(declaredNetworks(entry), host));
}

export function isInside(networks: readonly Cidr[], cidr: Cidr): boolean {
  return networks.some((network) => contains(network, cidr));
}
