import { isReachable, parseIp } from "./cidr.ts";
import { type Endpoint, endpointAt } from "./endpoint.ts";
import type { NodeName } from "./ids.ts";

/** Where the nodes of a cluster have met each public key, by the node that says so. */
export type Observed = ReadonlyMap<NodeName, ReadonlyMap<string, Endpoint>>;

/**
 * Kilo's `discovered-endpoints`: from where each key last shook hands. It is written by the other side's nodes, so what no
 * node can have is left out, and a text that is none says nothing.
 */
export function parseDiscovered(text: string): Map<string, Endpoint> {
  const found = new Map<string, Endpoint>();
  for (const [key, value] of Object.entries(parseObject(text))) {
    const endpoint = endpointOf(value);
    if (endpoint) found.set(key, endpoint);
  }
  return found;
}

/** What a cluster's nodes say of one key, in the order of their names. */
export function observationsOf(observed: Observed, key: string): Endpoint[] {
  return [...observed].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, endpoints]) => endpoints.get(key) ?? []);
}

function parseObject(text: string): Record<string, unknown> {
  if (text === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
  } catch {
    return {};
  }
}

function endpointOf(value: unknown): Endpoint | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { IP: ip, Port: port } = value as { IP?: unknown; Port?: unknown };
  const address = typeof ip === "string" ? parseIp(ip) : undefined;
  if (!address || typeof port !== "number" || !Number.isInteger(port) || port < 1 || port > 65535) return undefined;
  return isReachable(address) ? endpointAt(address, port) : undefined;
}
