import { admitNode } from "./admit.ts";
import type { ConnectionId } from "./ids.ts";
import { foldLocations } from "./location.ts";
import type { MeshNode, SkippedNode } from "./node.ts";
import type { HeldPeer } from "./peer.ts";
import { type Source, sourcesOf } from "./source.ts";
import { type ClusterView, nodesBehind, type World } from "./world.ts";

/** One source of a target with its nodes judged, once for all that follows. */
export interface JudgedSource extends Source {
  /** Absent while the source is unknown: then nothing follows from the empty lists. */
  readonly view?: ClusterView;
  /** By name. */
  readonly admitted: readonly MeshNode[];
  readonly skipped: readonly SkippedNode[];
}

export function judgeSources(
  world: World,
  target: ConnectionId,
  heldByKey: ReadonlyMap<string, HeldPeer>,
): JudgedSource[] {
  return sourcesOf(world.meshes, target).map((source) => {
    const observed = nodesBehind(world, source.connected.connections.get(source.entry.name));
    const view = source.connection && world.clusters.get(source.connection);
    if (observed.state === "unknown" || !view) return { ...source, admitted: [], skipped: [] };
    const { entry } = source;
    const nodes = observed.items;
    const alone = nodes.map((facts) => admitNode(entry, facts)).sort(byName);
    const judged = foldLocations({ entry, nodes, judged: alone, heldByKey });
    return {
      ...source,
      view,
      admitted: judged.filter((node): node is MeshNode => node.kind === "admitted"),
      skipped: judged.filter((node): node is SkippedNode => node.kind === "skipped"),
    };
  });
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}
