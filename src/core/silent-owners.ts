import { networksIn, uniqueRoutes } from "./cidr.ts";
import type { MeshId } from "./ids.ts";
import type { KeepingInput } from "./kept.ts";
import { oncePer } from "./once-per.ts";
import type { HeldPeer } from "./peer.ts";
import type { Candidate } from "./render.ts";
import { reachesElsewhere } from "./same-cluster.ts";

export interface SilentInput extends KeepingInput {
  readonly heldByKey: ReadonlyMap<string, HeldPeer>;
}

/**
 * Owners of whose wishes nothing is known here now keep their share of a Peer that others want too, and the first of all
 * its name. One that holds this cluster through another connection is not heard here either.
 */
export function withSilentOwners({ world, target, sources, heldByKey }: SilentInput): (peer: Candidate) => Candidate {
  const unknown = new Set(sources.filter(({ view }) => !view).map(({ mesh }) => mesh));
  const meshes = new Map(world.meshes.map((connected) => [connected.mesh.id, connected]));
  const isSilent = oncePer((owner: MeshId) => {
    const connected = meshes.get(owner);
    const isElsewhere = connected !== undefined && reachesElsewhere(world, connected, target);
    return world.refused.has(owner) || unknown.has(owner) || isElsewhere;
  });
  return (peer) => {
    const held = heldByKey.get(peer.publicKey);
    const silent = (held?.owners ?? []).filter((owner) => !peer.owners.includes(owner) && isSilent(owner));
    return held && silent.length > 0 ? shared(peer, held, silent) : peer;
  };
}

function shared(peer: Candidate, held: HeldPeer, silent: readonly MeshId[]): Candidate {
  const owners = [...peer.owners, ...silent].sort();
  const { mesh, source } = peer.owners.some((owner) => owner === owners[0]) ? peer : held;
  // A move that takes the keepalive away for a while gives it back.
  const keepaliveSeconds = peer.move ? peer.keepaliveSeconds : Math.max(peer.keepaliveSeconds, held.keepaliveSeconds);
  const routes = uniqueRoutes([...peer.routes, ...networksIn(held.allowedIps)]);
  return { ...peer, mesh, source, owners, routes, keepaliveSeconds };
}
