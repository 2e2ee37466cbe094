import { type Cidr, containsIp, exactly, hostRoute, isReachable, parseCidr, parseHostInCidr, parseIp } from "./cidr.ts";
import { type Endpoint, endpointAt, hostText, parseEndpoint } from "./endpoint.ts";
import { publicKey } from "./ids.ts";
import { type MeshEntry, podNetworks, wireguardNetworks } from "./mesh.ts";
import type { MeshNode, NodeFacts, SkippedNode } from "./node.ts";
import type { SkipReason } from "./reasons.ts";
import { hostsOf, isInside, podsOf } from "./routes.ts";

const nothing: readonly Cidr[] = [];

/** The checks of the Go operator in its order; the first that fails names the reason. */
export function admitNode(entry: MeshEntry, facts: NodeFacts): MeshNode | SkippedNode {
  const podCidr = parseCidr(facts.podCidrs[0] ?? "");
  if (!podCidr) return skip(facts, "NodeNoPodCIDR");
  if (!isInside(podNetworks(entry), podCidr)) return skip(facts, "NodePodCIDROutOfRange");
  if (facts.wireguardIp === "") return skip(facts, "NodeNoWireguardIP");
  const wireguard = parseHostInCidr(facts.wireguardIp);
  if (!wireguard) return skip(facts, "WGIPInvalid");
  if (!wireguardNetworks(entry).some((network) => containsIp(network, wireguard))) return skip(facts, "WGIPOutOfRange");
  if (facts.key === "") return skip(facts, "NodeNoPublicKey");
  const key = publicKey(facts.key);
  if (!key) return skip(facts, "NodeKeyInvalid");
  const reached = reachOf(entry, facts);
  if ("reason" in reached) return skip(facts, reached.reason, reached.detail);
  return {
    kind: "admitted",
    name: facts.name,
    publicKey: key,
    endpoint: reached.endpoint,
    roams: reached.roams,
    pinned: reached.pinned,
    pods: exactly(podsOf(entry, facts)),
    wireguard: hostRoute(wireguard),
    hosts: exactly(hostsOf(entry, facts)),
    behind: nothing,
  };
}

type Reach = Pick<MeshNode, "endpoint" | "roams" | "pinned">;
type Unreached = Pick<SkippedNode, "reason" | "detail">;

/**
 * The first source that is set wins and is final: a malformed one is a reason, never a fall-through. A node that nothing
 * outside leads to roams: its own endpoint stands in until it has come to us.
 */
function reachOf(entry: MeshEntry, facts: NodeFacts): Reach | Unreached {
  const declared = facts.clustermeshEndpoint || facts.forceEndpoint;
  const endpoint = declared ? usable(parseEndpoint(declared)) : externalEndpoint(entry, facts);
  const pinned = facts.clustermeshEndpoint !== "" || entry.endpointDiscovery === "Never";
  if (endpoint) return { endpoint, roams: false, pinned };
  if (declared) return { reason: "NodeEndpointInvalid", detail: faultOf(facts, declared) };
  const own = usable(parseEndpoint(facts.kiloEndpoint));
  return own ? { endpoint: own, roams: true, pinned } : { reason: "NodeNoEndpoint" };
}

/** Which of the two annotations it is, without its text: nodes write it. */
function faultOf({ clustermeshEndpoint }: NodeFacts, declared: string): string {
  const name = `kilo.squat.ai/${clustermeshEndpoint ? "clustermesh-endpoint" : "force-endpoint"}`;
  return parseEndpoint(declared) ? `${name} is an address that no other machine can reach` : `${name} is not host:port`;
}

/** An address that no other machine can reach is no endpoint. */
function usable(endpoint: Endpoint | undefined): Endpoint | undefined {
  const address = endpoint && parseIp(hostText(endpoint));
  return address && !isReachable(address) ? undefined : endpoint;
}

function externalEndpoint({ wireguardPort }: MeshEntry, facts: NodeFacts): Endpoint | undefined {
  const addresses = facts.externalIps.flatMap((text) => parseIp(text) ?? []).filter(isReachable);
  const address = addresses.find(({ family }) => family === 4) ?? addresses[0];
  return address && endpointAt(address, wireguardPort);
}

function skip({ name }: NodeFacts, reason: SkipReason, detail?: string): SkippedNode {
  return { kind: "skipped", name, reason, ...(detail !== undefined && { detail }) };
}
