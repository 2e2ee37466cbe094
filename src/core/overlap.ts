import { overlaps } from "./cidr.ts";
import type { MeshId } from "./ids.ts";
import { declaredNetworks, type MeshEntry } from "./mesh.ts";
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

function clashes(own: ConnectedMesh, other: ConnectedMesh): string[] {
  return own.mesh.entries.flatMap((mine) =>
    other.mesh.entries
      .filter((theirs) => !isSameCluster(own, mine, other, theirs))
      .flatMap((theirs) => pairs(mine, theirs).map((text) => `${text} of ${other.mesh.id}`)),
  );
}

function isSameCluster(...[own, mine, other, theirs]: [ConnectedMesh, MeshEntry, ConnectedMesh, MeshEntry]): boolean {
  const here = leadsTo(own, mine.name);
  return here !== undefined && here === leadsTo(other, theirs.name);
}

function pairs(mine: MeshEntry, theirs: MeshEntry): string[] {
  return declaredNetworks(mine).flatMap((a) =>
    declaredNetworks(theirs)
      .filter((b) => overlaps(a, b))
      .map((b) => `${a.text} of ${mine.name} overlaps ${b.text} of ${theirs.name}`),
  );
}
