import type { Cidr } from "./cidr.ts";
import { type Endpoint, endpointRoutes } from "./endpoint.ts";
import type { ConnectionId } from "./ids.ts";
import { declaredNetworks, type MeshEntry } from "./mesh.ts";
import { oncePer } from "./once-per.ts";
import { type Ranges, rangesOf } from "./ranges.ts";

/** The networks that entries declare for the clusters they lead to. */
export interface Promised {
  readonly to: (cluster: ConnectionId) => Ranges;
  readonly toOthers: (cluster: ConnectionId) => Ranges;
}

export interface Promises {
  readonly entries: readonly MeshEntry[];
  /** Where each of them leads. */
  readonly connections: readonly (ConnectionId | undefined)[];
}

export function promisedTo({ entries, connections }: Promises): Promised {
  const of = (isAsked: (cluster: ConnectionId) => boolean): Ranges =>
    rangesOf(
      entries.flatMap((entry, index) => {
        const cluster = connections[index];
        return cluster && isAsked(cluster) ? declaredNetworks(entry) : [];
      }),
    );
  return {
    to: oncePer((cluster) => of((one) => one === cluster)),
    toOthers: oncePer((cluster) => of((one) => one !== cluster)),
  };
}

/**
 * What a node says of itself beyond what its entry declares (its own addresses, its endpoint) is nothing where another
 * cluster is declared to have it: else a node could keep others out by naming their addresses. What is on a Peer already
 * is not asked: else a declaration could take it away.
 */
export function trespasses({ to, toOthers }: Promised, cluster: ConnectionId, route: Cidr): boolean {
  return toOthers(cluster).touches(route) && !to(cluster).covers(route);
}

export function endpointTrespasses(promised: Promised, cluster: ConnectionId, endpoint: Endpoint): boolean {
  return endpointRoutes(endpoint).some((route) => trespasses(promised, cluster, route));
}

/** What no endpoint of a cluster may lie in. */
export type Tunnels = Pick<Ranges, "touches">;

interface Routed {
  readonly cluster: ConnectionId;
  readonly routes: readonly Cidr[];
}

/** For each cluster its own routes, and the networks of the others. */
export function tunnelsAround(promised: Promised, routed: readonly Routed[]): (cluster: ConnectionId) => Tunnels {
  return oncePer((cluster) => {
    const own = rangesOf(routed.flatMap(({ cluster: one, routes }) => (one === cluster ? routes : [])));
    const others = promised.toOthers(cluster);
    return { touches: (route) => own.touches(route) || others.touches(route) };
  });
}
