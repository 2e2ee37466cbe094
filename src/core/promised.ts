import type { ConnectionId } from "./ids.ts";
import { declaredNetworks, type MeshEntry } from "./mesh.ts";
import { oncePer } from "./once-per.ts";
import { type Ranges, rangesOf } from "./ranges.ts";
import { compareTexts } from "./texts.ts";

/** Who wants something in a target: a cluster, for a mesh. */
export interface Asker {
  readonly cluster: ConnectionId;
  /** Of the mesh. */
  readonly rank: string;
}

/**
 * The networks that entries declare for clusters, against what a node says of itself beyond what its own entry declares (its
 * addresses, its endpoint): it must not keep others out by naming theirs. Nor may a declaration: it counts only
 * - against its own mesh and newer ones; and
 * - against older ones in a network that the declared cluster uses alone in the target: what is there may grow. Against what
 *   nobody declares it is enough that the cluster has nodes in it: else who declares nothing could be first everywhere.
 * What is on a Peer already is never asked: no declaration takes it away.
 */
export interface Promised {
  /** Where no endpoint of the asker may come to be. */
  readonly before: (asker: Asker) => Ranges;
  /** What no route of the asker may lead to that it does not declare. */
  readonly beforeUndeclared: (asker: Asker) => Ranges;
}

/** How a network is used in a target by the cluster that it is declared for, if by no other: by Peers, or by nodes alone. */
export type Usage = "peers" | "nodes" | "none";

export interface Promises {
  readonly entries: readonly MeshEntry[];
  /** Where each of them leads, or led as far as Peers tell. One of which nothing tells it is another cluster than any. */
  readonly connections: readonly (ConnectionId | undefined)[];
  /** Of the mesh of each. */
  readonly ranks: readonly string[];
  /** Of all their networks, in order. */
  readonly usages: readonly Usage[];
}

export function promisedTo({ entries, connections, ranks, usages }: Promises): Promised {
  const promises = entries
    .flatMap((entry, index) => declaredNetworks(entry).map((network) => ({ network, index })))
    .map(({ network, index }, place) => {
      return { network, cluster: connections[index], rank: ranks[index] ?? "", usage: usages[place] ?? "none" };
    });
  const before = (enough: readonly Usage[], { cluster, rank }: Asker): Ranges => {
    const others = promises.filter((other) => other.cluster !== cluster);
    const first = others.filter((other) => enough.includes(other.usage) || compareTexts(other.rank, rank) <= 0);
    return rangesOf(first.map(({ network }) => network));
  };
  return {
    before: oncePerAsker((asker) => before(["peers"], asker)),
    beforeUndeclared: oncePerAsker((asker) => before(["peers", "nodes"], asker)),
  };
}

function oncePerAsker(make: (asker: Asker) => Ranges): (asker: Asker) => Ranges {
  const made = oncePer((cluster: ConnectionId) => oncePer((rank: string) => make({ cluster, rank })));
  return ({ cluster, rank }) => made(cluster)(rank);
}
