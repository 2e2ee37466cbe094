import { type EndpointId, parseEndpointId } from "../identity.ts";
import type { SkipReason, SliceNote } from "../reasons.ts";
import { addressText } from "./address.ts";
import type { Member } from "./member.ts";
import type { EndpointFacts, PortFacts, SliceFacts } from "./slice-facts.ts";
import { compareText } from "./text-order.ts";

export type { Member } from "./member.ts";

/** The name of the port that members listen on for links, in their Service. */
export const linkPortName = "iroh-quic";

export interface SliceOptions {
  /** Default `linkPortName`. */
  readonly portName?: string;
  /** Where slices name no port that could be it: our own. */
  readonly defaultPort: number;
}

/** What a person should know about a slice or endpoint. */
export interface Note {
  readonly name: string;
  readonly reason: SliceNote;
}

export interface SliceReading {
  /** Sorted by name. */
  readonly members: readonly Member[];
  readonly notes: readonly Note[];
}

/** Who is in the slices. A pod that is in several of them, for two families or in a move, is one member. */
export function membersOf(slices: readonly SliceFacts[], options: SliceOptions): SliceReading {
  const inOrder = slices.toSorted((one, other) => compareText(one.name, other.name));
  const groups = Map.groupBy(
    inOrder.flatMap((slice) => sightingsIn(slice, options)),
    ({ name, endpoint }) => `${endpoint.podNamespace ?? ""}/${name}`,
  );
  const seen = [...groups.values()].map(memberOf).sort((one, other) => compareText(one.name, other.name));
  return {
    members: seen.filter(({ addresses }) => addresses.length > 0),
    notes: [
      ...inOrder.filter(sharesIdentity).map(({ name }): Note => ({ name, reason: "IdentityShared" })),
      ...seen
        .filter(({ addresses }) => addresses.length === 0)
        .map(({ name }): Note => ({ name, reason: "NoAddress" })),
    ],
  };
}

/** One endpoint of one slice. */
interface Sighting {
  readonly name: string;
  readonly endpoint: EndpointFacts;
  readonly slice: SliceFacts;
  readonly port: PortChoice;
}

interface PortChoice {
  readonly port: number;
  /** How sure we are that it is the one, from 0. */
  readonly rank: number;
}

const identityKey = "endpoint_id";
const relayKey = "relay_url";

function sightingsIn(slice: SliceFacts, options: SliceOptions): readonly Sighting[] {
  const port = choosePort(slice.ports, options);
  return slice.endpoints.flatMap((endpoint) =>
    endpoint.name === undefined ? [] : [{ name: endpoint.name, endpoint, slice, port }],
  );
}

/** The order of a slice's ports means nothing: controllers sort them by a hash. */
function choosePort(ports: readonly PortFacts[], { portName = linkPortName, defaultPort }: SliceOptions): PortChoice {
  const named = ports.filter(({ name }) => name === portName);
  const udp = ports.filter(({ isUdp }) => isUdp);
  const [first] = named.toSorted((one, other) => Number(other.isUdp) - Number(one.isUdp));
  if (first) return { port: first.port, rank: 0 };
  if (udp.length === 1 && udp[0]) return { port: udp[0].port, rank: 1 };
  if (ports.length === 1 && ports[0]) return { port: ports[0].port, rank: 2 };
  return { port: defaultPort, rank: 3 };
}

function memberOf(sightings: readonly Sighting[]): Member {
  const alive = withoutTerminating(sightings);
  const used = alive.length > 0 ? alive : sightings;
  const [{ name, endpoint }] = used as readonly [Sighting, ...Sighting[]];
  const annotations = annotationsOf(used);
  return {
    origin: "kubernetes",
    name,
    isPod: endpoint.isPod,
    ...(endpoint.podNamespace !== undefined && { podNamespace: endpoint.podNamespace }),
    addresses: addressesOf(used),
    metadata: metadataOf(annotations),
    ...(annotations[relayKey] !== undefined && { relayUrl: annotations[relayKey] }),
    ...declaredIdentity(name, used),
    dialable: alive.some(({ endpoint: { ready } }) => ready),
  };
}

/** One slice may say already what another does not yet. A pod that came back under its old name has another uid. */
function withoutTerminating(sightings: readonly Sighting[]): readonly Sighting[] {
  const leaving = new Set(sightings.filter(({ endpoint }) => endpoint.terminating).map(({ endpoint }) => endpoint.uid));
  return sightings.filter(({ endpoint }) => !leaving.has(endpoint.uid));
}

/**
 * Every IP with every port of the best rank. A pod listens on the same port in both families, and a slice of another
 * Service that only knows the API port must not add that one.
 */
function addressesOf(sightings: readonly Sighting[]): readonly string[] {
  const best = Math.min(...sightings.map(({ port }) => port.rank));
  const ports = new Set(sightings.filter(({ port }) => port.rank === best).map(({ port }) => port.port));
  ports.delete(0);
  const ips = new Set(sightings.flatMap(({ endpoint }) => endpoint.ips));
  return [...ips].flatMap((ip) => [...ports].map((port) => addressText(ip, port))).sort();
}

/** What is declared for one pod comes first; what is declared for a slice holds if it has one endpoint. */
function declaredIdentity(name: string, sightings: readonly Sighting[]): IdentityFacts {
  const own = sightings.flatMap(({ slice }) => slice.annotations[`${identityKey}.${name}`] ?? []);
  const alone = sightings.filter(({ slice }) => slice.endpoints.length === 1);
  const [text] = [...own, ...alone.flatMap(({ slice }) => slice.annotations[identityKey] ?? [])];
  if (text === undefined) return {};
  const endpointId = parseEndpointId(text);
  return endpointId ? { endpointId } : { problem: "IdentityInvalid" };
}

interface IdentityFacts {
  readonly endpointId?: EndpointId;
  readonly problem?: SkipReason;
}

function annotationsOf(sightings: readonly Sighting[]): Readonly<Record<string, string>> {
  const inOrder = sightings.toReversed().flatMap(({ slice }) => Object.entries(slice.annotations));
  return Object.fromEntries(inOrder);
}

function metadataOf(annotations: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const isField = (key: string) => key === relayKey || key === identityKey || key.startsWith(`${identityKey}.`);
  return Object.fromEntries(
    Object.entries(annotations)
      .filter(([key]) => !isField(key))
      .sort(([one], [other]) => compareText(one, other)),
  );
}

function sharesIdentity({ annotations, endpoints }: SliceFacts): boolean {
  return annotations[identityKey] !== undefined && endpoints.length > 1;
}
