import type { Cidr } from "./cidr.ts";
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
 * - against older ones in a network that the declared cluster has nodes in, and no other cluster Peers: what is there may
 *   grow.
 * What is on a Peer already is never asked: no declaration takes it away.
 */
export interface Promised {
  /** What is others' before it can be the asker's. */
  readonly before: (asker: Asker) => Ranges;
}

export interface Promises {
  readonly entries: readonly MeshEntry[];
  /** Where each of them leads. One that leads nowhere now is another cluster than any. */
  readonly connections: readonly (ConnectionId | undefined)[];
  /** Of the mesh of each. */
  readonly ranks: readonly string[];
  /** Of all their networks, in order, those that they alone use. */
  readonly settled: readonly boolean[];
}

export function promisedTo({ entries, connections, ranks, settled }: Promises): Promised {
  const promises = entries
    .flatMap((entry, index) => declaredNetworks(entry).map((network) => ({ network, index })))
    .map(({ network, index }, place) => {
      return { network, cluster: connections[index], rank: ranks[index] ?? "", isSettled: settled[place] };
    });
  const before = (asker: ConnectionId, rank: string): Ranges => {
    const others = promises.filter(({ cluster }) => cluster !== asker);
    const first = others.filter((other) => other.isSettled || compareTexts(other.rank, rank) <= 0);
    return rangesOf(first.map(({ network }) => network));
  };
  const ofCluster = oncePer((cluster: ConnectionId) => oncePer((rank: string) => before(cluster, rank)));
  return { before: ({ cluster, rank }) => ofCluster(cluster)(rank) };
}

export function trespasses(promised: Promised, asker: Asker, route: Cidr): boolean {
  return promised.before(asker).touches(route);
}
