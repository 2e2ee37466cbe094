import { type Cidr, contains, hostRoute, isReachable, networksIn, parseIp } from "./cidr.ts";
import { declaredNetworks, type MeshEntry, podNetworks } from "./mesh.ts";
import type { NodeFacts } from "./node.ts";

/** The node's pod networks that its entry declares. */
export function podsOf(entry: MeshEntry, { podCidrs }: NodeFacts): Cidr[] {
  return networksIn(podCidrs).filter((cidr) => isInside(podNetworks(entry), cidr));
}

/**
 * The node's own addresses. Typed form: only what the entry declares. Flat form: all of them, as the Go operator does, but
 * what another machine cannot have: a route to it would lead away from what every node has for itself.
 */
export function hostsOf(entry: MeshEntry, { internalIps }: NodeFacts): Cidr[] {
  const addresses = internalIps.flatMap((text) => parseIp(text) ?? []);
  const hosts = addresses.filter(isReachable).map(hostRoute);
  return entry.networks.form === "flat" ? hosts : hosts.filter((host) => isInside(declaredNetworks(entry), host));
}

export function isInside(networks: readonly Cidr[], cidr: Cidr): boolean {
  return networks.some((network) => contains(network, cidr));
}
