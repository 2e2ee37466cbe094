import { type Cidr, containsIp, parseIp } from "./cidr.ts";
import { observationsOf } from "./discovered.ts";
import { type Endpoint, hostText, sameEndpoint } from "./endpoint.ts";
import type { HeldPeer } from "./peer.ts";
import type { Candidate } from "./render.ts";
import type { ClusterView } from "./world.ts";

export interface ReachInput {
  readonly candidates: readonly Candidate[];
  readonly heldByKey: ReadonlyMap<string, HeldPeer>;
  /** The target, whose nodes say where they have met a key. */
  readonly view: ClusterView | undefined;
  /** The addresses of the names that could be resolved. */
  readonly resolved: ReadonlyMap<string, readonly string[]>;
}

export interface Reached {
  readonly reachable: readonly Candidate[];
  /** Nodes whose endpoint is a name that leads nowhere. One that has a Peer here keeps it as it is. */
  readonly unresolved: readonly Candidate[];
}

/** An address that nobody has: a Peer without any endpoint would hide changes of other Peers from Kilo. */
const nowhere = "192.0.2.1";
/** What lets Kilo follow a node that turns up somewhere else. */
export const roamingKeepaliveSeconds = 25;

/** Settles where each Peer is to be reached in this target. Nothing of one target leaks into another. */
export function settleReach(input: ReachInput): Reached {
  const routes = input.candidates.flatMap((candidate) => candidate.routes);
  const settled = input.candidates.map((candidate) => ({ candidate, endpoint: endpointFor(candidate, routes, input) }));
  const isUnresolved = (candidate: Candidate): boolean => isNameless(candidate, input);
  return {
    reachable: settled.flatMap(({ candidate, endpoint }) =>
      endpoint ? [withEndpoint(candidate, endpoint, input)] : [],
    ),
    unresolved: input.candidates.filter(isUnresolved),
  };
}

function isNameless({ endpoint: { host }, pinned, publicKey }: Candidate, { resolved, view }: ReachInput): boolean {
  if (!("dns" in host) || (resolved.get(host.dns) ?? []).length > 0) return false;
  return pinned || !view || observationsOf(view.observed, publicKey).length === 0;
}

function endpointFor(candidate: Candidate, routes: readonly Cidr[], input: ReachInput): Endpoint | undefined {
  const held = input.heldByKey.get(candidate.publicKey)?.endpoint;
  const seen = candidate.pinned ? [] : observed(candidate, routes, input);
  if (seen.length > 0) return seen.find((endpoint) => sameEndpoint(endpoint, held)) ?? seen[0];
  if ("dns" in candidate.endpoint.host) return resolvedEndpoint(candidate.endpoint, held, input.resolved);
  if (!candidate.roams) return candidate.endpoint;
  return isRouted(candidate.endpoint, routes)
    ? { host: { ip: nowhere }, port: candidate.endpoint.port }
    : candidate.endpoint;
}

/** What the target's nodes saw, but for addresses inside the mesh: a tunnel must not run through itself. */
function observed({ publicKey }: Candidate, routes: readonly Cidr[], { view }: ReachInput): Endpoint[] {
  if (!view) return [];
  return observationsOf(view.observed, publicKey).filter((endpoint) => !isRouted(endpoint, routes));
}

function isRouted(endpoint: Endpoint, routes: readonly Cidr[]): boolean {
  const address = parseIp(hostText(endpoint));
  return address !== undefined && routes.some((route) => containsIp(route, address));
}

/**
 * One name that does not resolve stops Kilo on every node, so names are resolved here. The present address stays while it is
 * in the answer; what a Peer holds stays while there is no answer.
 */
function resolvedEndpoint(
  endpoint: Endpoint,
  held: Endpoint | undefined,
  resolved: ReadonlyMap<string, readonly string[]>,
): Endpoint | undefined {
  const addresses = resolved.get(hostText(endpoint)) ?? [];
  const [first] = addresses;
  if (first === undefined) return held;
  const isConforming =
    held?.port === endpoint.port && (sameEndpoint(held, endpoint) || addresses.includes(hostText(held)));
  return isConforming ? held : { host: { ip: first }, port: endpoint.port };
}

/** Pinned to one place and seen in another, Kilo would reset the device at every look: then it may follow. */
function withEndpoint(candidate: Candidate, endpoint: Endpoint, { view }: ReachInput): Candidate {
  const seen = view ? observationsOf(view.observed, candidate.publicKey) : [];
  const differs = seen.length > 0 && !seen.some((other) => sameEndpoint(other, endpoint));
  const floor = candidate.roams || differs ? roamingKeepaliveSeconds : 0;
  return { ...candidate, endpoint, keepaliveSeconds: Math.max(candidate.keepaliveSeconds, floor) };
}
