import type { MeshId } from "./ids.ts";
import { declaredNetworks, type MeshEntry } from "./mesh.ts";
import { type Declared, overlapping } from "./overlapping.ts";
import { clustersOf, leadsTo } from "./source.ts";
import type { ConnectedMesh } from "./world.ts";

/**
 * Networks that two meshes declare for different clusters, told to each of the two. It matters only where a cluster would
 * receive both: meshes that share none never meet. Nothing is stopped for it; in the shared cluster the claims decide.
 */
export function overlapsAcross(meshes: readonly ConnectedMesh[], id: MeshId): string[] {
  const own = meshes.find(({ mesh }) => mesh.id === id);
  if (!own) return [];
  return meshes
    .filter(({ mesh }) => mesh.id !== id && shares(own, mesh.id, meshes))
    .flatMap((other) => clashes(own, other));
}

function shares(own: ConnectedMesh, other: MeshId, meshes: readonly ConnectedMesh[]): boolean {
  const theirs = meshes.find(({ mesh }) => mesh.id === other);
  const clusters = clustersOf(own);
  return theirs !== undefined && [...clustersOf(theirs)].some((id) => clusters.has(id));
}

/** Within an accepted mesh no two networks overlap: there are no more pairs than networks. */
function clashes(own: ConnectedMesh, other: ConnectedMesh): string[] {
  const declared = [own, other].flatMap((connected) =>
    connected.mesh.entries.flatMap((entry) => declaredNetworks(entry).map((cidr) => ({ connected, entry, cidr }))),
  );
  return overlapping(declared, Number.POSITIVE_INFINITY)
    .pairs.filter(([mine, theirs]) => mine.connected !== theirs.connected && !isSameCluster(mine, theirs))
    .map(([mine, theirs]) => `${textOf(mine)} overlaps ${textOf(theirs)} of ${other.mesh.id}`);
}

interface Place extends Declared {
  readonly connected: ConnectedMesh;
  readonly entry: MeshEntry;
}

const textOf = ({ cidr, entry }: Place): string => `${cidr.text} of ${entry.name}`;

function isSameCluster(mine: Place, theirs: Place): boolean {
  const here = leadsTo(mine.connected, mine.entry.name);
  return here !== undefined && here === leadsTo(theirs.connected, theirs.entry.name);
}
