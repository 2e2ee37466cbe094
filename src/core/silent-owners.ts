import { networksIn, uniqueRoutes } from "./cidr.ts";
import type { Matched } from "./holding.ts";
import type { MeshId } from "./ids.ts";
import type { KeepingInput } from "./kept.ts";
import { oncePer } from "./once-per.ts";
import type { HeldPeer } from "./peer.ts";
import type { Candidate } from "./render.ts";
import { reachesElsewhere } from "./same-cluster.ts";

/**
 * Tells of which owners nothing is known here now. One that holds this cluster through another connection is not heard
 * here either.
 */
export function silentIn({ world, target, sources }: KeepingInput): (owner: MeshId) => boolean {
  return oncePer((owner: MeshId) => {
    if (world.refused.has(owner) || sources.some(({ mesh, view }) => mesh === owner && !view)) return true;
    const connected = world.meshes.find(({ mesh }) => mesh.id === owner);
    return connected !== undefined && reachesElsewhere(world, connected, target);
  });
}

/** Owners of Peers that are not among those who want them now. */
export function strangersIn({ candidates, helds }: Matched): readonly MeshId[] {
  const owners = new Set<MeshId>();
  helds.forEach((held, index) => {
    for (const owner of held?.owners ?? []) if (!candidates[index]?.owners.includes(owner)) owners.add(owner);
  });
  return [...owners];
}

/** Silent owners keep their share of a Peer that others want too, and the first of all its name. */
export function withSilentOwners(peer: Candidate, held: HeldPeer | undefined, silent: readonly MeshId[]): Candidate {
  if (!held || silent.length === 0) return peer;
  const theirs = held.owners.filter((owner) => !peer.owners.includes(owner) && silent.includes(owner));
  return theirs.length > 0 ? shared(peer, held, theirs) : peer;
}

function shared(peer: Candidate, held: HeldPeer, silent: readonly MeshId[]): Candidate {
  const owners = [...peer.owners, ...silent].sort();
  const { mesh, source } = peer.owners.some((owner) => owner === owners[0]) ? peer : held;
  // A move that takes the keepalive away for a while gives it back.
  const keepaliveSeconds = peer.move ? peer.keepaliveSeconds : Math.max(peer.keepaliveSeconds, held.keepaliveSeconds);
  const routes = uniqueRoutes([...peer.routes, ...networksIn(held.allowedIps)]);
  return { ...peer, mesh, source, owners, routes, keepaliveSeconds };
}
