import { isReachable, parseIp } from "./cidr.ts";
import { type Endpoint, endpointAt, endpointText } from "./endpoint.ts";
import type { NodeName } from "./ids.ts";
import { onceFor } from "./once-per.ts";

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

/** What a cluster's nodes say of each key, in the order of their names; a place counts once, whoever reports it. */
export const reportsIn = onceFor((observed: Observed): ReadonlyMap<string, readonly Endpoint[]> => {
  const places = new Map<string, Map<string, Endpoint>>();
  for (const [, endpoints] of [...observed].sort(([a], [b]) => (a < b ? -1 : 1))) {
    for (const [key, endpoint] of endpoints) {
      const known = places.get(key) ?? new Map<string, Endpoint>();
      const text = endpointText(endpoint);
      if (!known.has(text)) places.set(key, known.set(text, endpoint));
    }
  }
  return new Map([...places].map(([key, known]) => [key, [...known.values()]]));
});

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
