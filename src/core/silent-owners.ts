import { type Cidr, networksIn, uniqueRoutes } from "./cidr.ts";
import type { Matched } from "./holding.ts";
import type { MeshId } from "./ids.ts";
import type { KeepingInput } from "./kept.ts";
import { entriesKeeper } from "./kept-routes.ts";
import { oncePer } from "./once-per.ts";
import type { HeldPeer } from "./peer.ts";
import type { Recall } from "./recall.ts";
import type { Candidate } from "./render.ts";
import { doorsTo, entriesBehind, type Meaning } from "./same-cluster.ts";

/** An owner of whose wishes nothing is known here now. */
export interface SilentOwner extends Partial<Meaning> {
  readonly mesh: MeshId;
}

/**
 * Tells which owners are silent here, and which of their entries may be meant: none is named while the mesh itself is not
 * accepted. One that holds this cluster through another connection is not heard here either.
 */
export function silentIn(
  { world, target, sources }: KeepingInput,
  recall: Recall,
): (owner: MeshId) => SilentOwner | undefined {
  return oncePer((mesh: MeshId) => {
    if (world.refused.has(mesh)) return recall.silentOwner({ mesh });
    const unknown = sources.filter((source) => source.mesh === mesh && !source.view).map(({ entry }) => entry);
    if (unknown.length > 0) return recall.silentOwner({ mesh, entries: unknown });
    const owner = world.meshes.find((connected) => connected.mesh.id === mesh);
    const doors = owner ? doorsTo(world, owner, target) : [];
    return owner && doors.length > 0 ? recall.silentOwner({ mesh, entries: owner.mesh.entries, doors }) : undefined;
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

/**
 * Silent owners keep their share of a Peer that others want too, as far as their spec still covers it, and the first of all
 * its name.
 */
export function withSilentOwners(
  peer: Candidate,
  held: HeldPeer | undefined,
  silent: readonly SilentOwner[],
): Candidate {
  if (!held || silent.length === 0) return peer;
  const others = silent.filter(({ mesh }) => held.owners.includes(mesh) && !peer.owners.includes(mesh));
  const parts = others.flatMap((owner) => partOf(owner, held) ?? []);
  return parts.length > 0 ? shared(peer, held, parts) : peer;
}

interface Part {
  readonly mesh: MeshId;
  readonly routes: readonly Cidr[];
}

/** Undefined where the Peer cannot be meant by anything that is unknown of the owner. */
function partOf({ mesh, entries, ...rest }: SilentOwner, held: HeldPeer): Part | undefined {
  if (!entries) return { mesh, routes: networksIn(held.allowedIps) };
  const behind = entriesBehind({ entries, ...rest }, held);
  return behind.length > 0 ? { mesh, routes: networksIn(entriesKeeper(behind)(held)) } : undefined;
}

function shared(peer: Candidate, held: HeldPeer, parts: readonly Part[]): Candidate {
  const owners = [...peer.owners, ...parts.map((part) => part.mesh)].sort();
  const { mesh, source } = peer.owners.some((owner) => owner === owners[0]) ? peer : held;
  // A move that takes the keepalive away for a while gives it back.
  const keepaliveSeconds = peer.move ? peer.keepaliveSeconds : Math.max(peer.keepaliveSeconds, held.keepaliveSeconds);
  const theirs = parts.flatMap((part) => part.routes);
  const routes = uniqueRoutes([...peer.routes, ...theirs]);
  // They are there and work: who still speaks is not asked whether it would have them.
  const ranks = new Map([...(peer.ranks ?? []), ...theirs.map(({ text }) => [text, [""]] as const)]);
  return { ...peer, mesh, source, owners, routes, ranks, keepaliveSeconds };
}
