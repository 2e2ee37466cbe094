import { admitNode } from "./admit.ts";
import type { ConnectionId } from "./ids.ts";
import { foldLocations } from "./location.ts";
import type { MeshEntry } from "./mesh.ts";
import type { MeshNode, NodeFacts, SkippedNode } from "./node.ts";
import type { HeldPeer } from "./peer.ts";
import { type Source, sourcesOf } from "./source.ts";
import { type ClusterView, type JudgementMemo, nodesBehind, type World } from "./world.ts";

/** One source of a target with its nodes judged, once for all that follows. */
export interface JudgedSource extends Source {
  /** Absent while the source is unknown: then nothing follows from the empty lists. */
  readonly view?: ClusterView;
  /** By name. */
  readonly admitted: readonly MeshNode[];
  readonly skipped: readonly SkippedNode[];
  /** Locations of which nothing says who leads to their nodes. */
  readonly unclear: readonly string[];
}

export function judgeSources(
  world: World,
  target: ConnectionId,
  heldByKey: ReadonlyMap<string, HeldPeer>,
): JudgedSource[] {
  return sourcesOf(world.meshes, target).map((source) => {
    const observed = nodesBehind(world, source.connected.connections.get(source.entry.name));
    const view = source.connection && world.clusters.get(source.connection);
    if (observed.state === "unknown" || !view) return { ...source, admitted: [], skipped: [], unclear: [] };
    const { entry } = source;
    const nodes = observed.items;
    const alone = nodes.map((facts) => judgedOnce(world.memo, entry, facts)).sort(byName);
    const { judged, unclear } = foldLocations({ entry, nodes, judged: alone, heldByKey, silent: view.silent });
    return {
      ...source,
      view,
      unclear,
      admitted: judged.filter((node): node is MeshNode => node.kind === "admitted"),
      skipped: judged.filter((node): node is SkippedNode => node.kind === "skipped"),
    };
  });
}

function judgedOnce(memo: JudgementMemo, entry: MeshEntry, facts: NodeFacts): MeshNode | SkippedNode {
  const ofEntry = memo.get(entry) ?? new WeakMap<NodeFacts, MeshNode | SkippedNode>();
  memo.set(entry, ofEntry);
  const judged = ofEntry.get(facts) ?? admitNode(entry, facts);
  ofEntry.set(facts, judged);
  return judged;
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}
