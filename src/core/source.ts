import type { ClusterName, ConnectionId, MeshId } from "./ids.ts";
import type { MeshEntry } from "./mesh.ts";
import type { ConnectedMesh } from "./world.ts";

/** One entry of one mesh, as a giver of Peers. */
export interface SourceId {
  readonly mesh: MeshId;
  readonly source: ClusterName;
}

/** One text for it. */
export function sourceText({ mesh, source }: SourceId): string {
  return `${mesh} ${source}`;
}

export interface Source extends SourceId {
  readonly connected: ConnectedMesh;
  readonly entry: MeshEntry;
  /** Absent while the entry leads nowhere. */
  readonly connection?: ConnectionId;
}

/** Every entry that gives Peers to `target`: the others of each mesh the target is in. */
export function sourcesOf(meshes: readonly ConnectedMesh[], target: ConnectionId): Source[] {
  return meshes
    .filter((connected) => isIn(connected, target))
    .flatMap((connected) =>
      connected.mesh.entries.flatMap((entry) => {
        const connection = leadsTo(connected, entry.name);
        if (connection === target) return [];
        const source = { mesh: connected.mesh.id, source: entry.name, connected, entry };
        return [connection ? { ...source, connection } : source];
      }),
    );
}

/** The clusters that receive the Peers of `source`'s nodes. */
export function affectedTargets(meshes: readonly ConnectedMesh[], source: ConnectionId): Set<ConnectionId> {
  const targets = meshes
    .filter((connected) => isIn(connected, source))
    .flatMap((connected) => [...clustersOf(connected)]);
  return new Set(targets.filter((id) => id !== source));
}

export function isIn(connected: ConnectedMesh, id: ConnectionId): boolean {
  return connected.mesh.entries.some((entry) => leadsTo(connected, entry.name) === id);
}

/** The clusters that its entries lead to. */
export function clustersOf({ connections }: ConnectedMesh): Set<ConnectionId> {
  return new Set(
    [...connections.values()].flatMap((connection) => (connection.state === "connected" ? [connection.id] : [])),
  );
}

/** Where an entry leads; undefined while it leads nowhere. */
export function leadsTo({ connections }: ConnectedMesh, name: ClusterName): ConnectionId | undefined {
  const connection = connections.get(name);
  return connection?.state === "connected" ? connection.id : undefined;
}
