import { type Cidr, isHost, networksIn } from "./cidr.ts";
import type { ConnectionId } from "./ids.ts";
import { type MeshEntry, wireguardNetworks } from "./mesh.ts";
import { onceFor } from "./once-per.ts";
import type { HeldPeer } from "./peer.ts";
import { isInside } from "./routes.ts";
import type { Source, SourceId } from "./source.ts";

/** A source, among the entries of its mesh. */
export interface Called extends SourceId {
  readonly entries: readonly MeshEntry[];
}

/**
 * True when the Peer is called after the source. It bears the name that its first owner has, or had, for the cluster. Where
 * it has several, one may have the name for another cluster: then the node's WireGuard IP tells.
 */
export function isCalledAfter(called: Called, held: HeldPeer): boolean {
  const { mesh, source } = called;
  if (held.source !== source || !held.owners.includes(mesh)) return false;
  return held.owners.length === 1 || mayBeBehind(called, held);
}

/** True unless the node's address tells that its mesh means another cluster. */
function mayBeBehind({ source, entries }: Called, held: HeldPeer): boolean {
  // Nearly always it is, and the other entries need not be asked.
  const own = entries.find(({ name }) => name === source);
  return (own && isAddressed(own, held)) || entriesByAddress(entries, held).length === 0;
}

const calledOf = ({ mesh, source, connected }: Source): Called => ({ mesh, source, entries: connected.mesh.entries });

/** The same of a source with its mesh. */
export const isNamesake = (source: Source, held: HeldPeer): boolean => isCalledAfter(calledOf(source), held);

/** True when the source is the cluster that the Peer comes from, as others know it; while nobody does, the address tells. */
export function isSameCluster(source: Source, known: readonly ConnectionId[], held: HeldPeer): boolean {
  const { connection, entry, connected } = source;
  if (known.length === 0) return entriesByAddress(connected.mesh.entries, held).includes(entry);
  return connection !== undefined && known.includes(connection) && mayBeBehind(calledOf(source), held);
}

/** Of the entries those in whose WireGuard networks the Peer has a host: the rest of it may lie in what is declared for others. */
export function entriesByAddress(entries: readonly MeshEntry[], held: HeldPeer): readonly MeshEntry[] {
  return entries.filter((entry) => isAddressed(entry, held));
}

function isAddressed(entry: MeshEntry, { allowedIps }: HeldPeer): boolean {
  return hostsOn(allowedIps).some((host) => isInside(wireguardNetworks(entry), host));
}

const hostsOn = onceFor((allowedIps: readonly string[]): readonly Cidr[] => networksIn(allowedIps).filter(isHost));
