import { type Cidr, contains, containsIp, hostRoute, parseCidr, parseHostInCidr, parseIp } from "./cidr.ts";
import { type Endpoint, endpointAt, parseEndpoint } from "./endpoint.ts";
import { publicKey } from "./ids.ts";
import type { MeshEntry } from "./mesh.ts";
import type { MeshNode, NodeFacts, SkippedNode } from "./node.ts";
import { uniqueRoutes } from "./peer.ts";
import type { SkipReason } from "./reasons.ts";

/** The nodes of one entry, each admitted or skipped with the first reason that holds. Order of input does not matter. */
export function admitNodes(entry: MeshEntry, nodes: readonly NodeFacts[]): (MeshNode | SkippedNode)[] {
  const seen = new Set<string>();
  return [...nodes]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((facts) => {
      const node = admitNode(entry, facts);
      if (node.kind === "skipped") return node;
      const route = wireguardRoute(facts)?.text ?? "";
      if (seen.has(route)) return skip(facts, "WGIPDuplicate");
      seen.add(route);
      return node;
    });
}

/** The checks of the Go operator in its order; the first that fails names the reason. */
export function admitNode(entry: MeshEntry, facts: NodeFacts): MeshNode | SkippedNode {
  const podCidr = parseCidr(facts.podCidrs[0] ?? "");
  if (!podCidr) return skip(facts, "NodeNoPodCIDR");
  if (!entry.podCidrs.some((declared) => contains(declared, podCidr))) return skip(facts, "NodePodCIDROutOfRange");
  if (facts.wireguardIp === "") return skip(facts, "NodeNoWireguardIP");
  const wireguard = parseHostInCidr(facts.wireguardIp);
  if (!wireguard) return skip(facts, "WGIPInvalid");
  if (!containsIp(entry.wireguardCidr, wireguard)) return skip(facts, "WGIPOutOfRange");
  if (facts.key === "") return skip(facts, "NodeNoPublicKey");
  const key = publicKey(facts.key);
  if (!key) return skip(facts, "NodeKeyInvalid");
  const endpoint = endpointOf(entry, facts);
  if (typeof endpoint === "string") return skip(facts, endpoint);
  return { kind: "admitted", name: facts.name, publicKey: key, endpoint, routes: routesOf(entry, facts) };
}

/** The first source that is set wins and is final: a malformed one is a reason, never a fall-through. */
function endpointOf(entry: MeshEntry, facts: NodeFacts): Endpoint | SkipReason {
  const declared = facts.clustermeshEndpoint || facts.forceEndpoint;
  if (declared) return parseEndpoint(declared) ?? "NodeEndpointInvalid";
  const addresses = facts.externalIps.flatMap((text) => parseIp(text) ?? []);
  const address = addresses.find(({ family }) => family === 4) ?? addresses[0];
  return address ? endpointAt(address, entry.wireguardPort) : "NodeNoEndpoint";
}

/** Pod CIDRs, the WireGuard IP, and the node's own addresses that the entry declares. Canonical, sorted, each once. */
function routesOf(entry: MeshEntry, facts: NodeFacts): Cidr[] {
  const declared = [...entry.podCidrs, ...entry.clusterWide];
  const pods = facts.podCidrs.flatMap((text) => parseCidr(text) ?? []);
  const hosts = facts.internalIps.flatMap((text) => parseIp(text) ?? []).map(hostRoute);
  const own = [...pods, ...hosts].filter((cidr) => declared.some((network) => contains(network, cidr)));
  return uniqueRoutes([...own, wireguardRoute(facts) ?? []].flat());
}

function wireguardRoute(facts: NodeFacts): Cidr | undefined {
  const address = parseHostInCidr(facts.wireguardIp);
  return address && hostRoute(address);
}

function skip(facts: NodeFacts, reason: SkipReason): SkippedNode {
  return { kind: "skipped", name: facts.name, reason };
}
