import { isHost, networksIn } from "./cidr.ts";
import { type MeshEntry, wireguardNetworks } from "./mesh.ts";
import type { HeldPeer } from "./peer.ts";
import { isInside } from "./routes.ts";
import type { Source, SourceId } from "./source.ts";

/** A source, among the entries of its mesh. */
export interface Called extends SourceId {
  readonly entries: readonly MeshEntry[];
}

/**
 * True when the Peer is called after the source. It bears the name that its first owner has for the cluster. Another owner
 * may have the name for another cluster: then the node's WireGuard IP tells.
 */
export function isCalledAfter({ mesh, source, entries }: Called, held: HeldPeer): boolean {
  if (held.source !== source || !held.owners.includes(mesh)) return false;
  if (held.owners[0] === mesh) return true;
  const behind = entriesByAddress(entries, held);
  return behind.length === 0 || behind.some(({ name }) => name === source);
}

/** The same of a source with its mesh. */
export function isNamesake({ mesh, source, connected }: Source, held: HeldPeer): boolean {
  return isCalledAfter({ mesh, source, entries: connected.mesh.entries }, held);
}

/** Of the entries those in whose WireGuard networks the Peer has a host: the rest of it may lie in what is declared for others. */
export function entriesByAddress(entries: readonly MeshEntry[], { allowedIps }: HeldPeer): readonly MeshEntry[] {
  const hosts = networksIn(allowedIps).filter(isHost);
  return entries.filter((entry) => hosts.some((host) => isInside(wireguardNetworks(entry), host)));
}
