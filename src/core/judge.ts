import { admitNode } from "./admit.ts";
import { type Holding, heldsOf } from "./holding.ts";
import type { ConnectionId } from "./ids.ts";
import type { MeshEntry } from "./mesh.ts";
import { type Judged, judgedOf, type NodeFacts } from "./node.ts";
import { onceForBoth } from "./once-per.ts";
import type { Recall } from "./recall.ts";
import { type Source, sourcesOf } from "./source.ts";
import { compareTexts } from "./texts.ts";
import { type ClusterView, nodesBehind, type World } from "./world.ts";

/** One source of a target with its nodes judged, once for all that follows. */
export interface JudgedSource extends Source, Judged {
  /** Absent while the source is unknown: then nothing follows from the empty lists. */
  readonly view?: ClusterView;
  /** Locations of which nothing says who leads to their nodes. */
  readonly unclear: readonly string[];
}

export interface JudgeInput {
  readonly holding: Holding;
  readonly recall: Recall;
}

export function judgeSources(world: World, target: ConnectionId, { holding, recall }: JudgeInput): JudgedSource[] {
  return sourcesOf(world.meshes, target).map((source) => {
    const observed = nodesBehind(world, source.connected.connections.get(source.entry.name));
    const view = source.connection && world.clusters.get(source.connection);
    if (observed.state === "unknown" || !view) return { ...source, admitted: [], skipped: [], unclear: [] };
    const { entry } = source;
    const judged = judgedNodes(entry, observed.items);
    const helds = heldsOf(holding, judged.admitted);
    return { ...source, view, ...recall.of(source).fold({ entry, ...judged, helds, silent: view.silent }) };
  });
}

interface JudgedNodes extends Judged {
  readonly nodes: readonly NodeFacts[];
}

/** A node is judged once, not per target; a list of nodes once while none of them changes. */
export const judgedNodes = onceForBoth((entry: MeshEntry, nodes: readonly NodeFacts[]): JudgedNodes => {
  return { nodes, ...judgedOf(nodes.map((facts) => judgedNode(entry, facts)).sort(byName)) };
});
const judgedNode = onceForBoth(admitNode);

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return compareTexts(a.name, b.name);
}
