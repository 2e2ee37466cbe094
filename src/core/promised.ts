import { type Cidr, hostRoute, parseIp } from "./cidr.ts";
import { type Endpoint, hostText } from "./endpoint.ts";
import type { ConnectionId } from "./ids.ts";
import type { JudgedSource } from "./judge.ts";
import { declaredNetworks } from "./mesh.ts";
import { type Ranges, rangesOf } from "./ranges.ts";

/** The networks that an entry declares, for the cluster that it leads to. */
export interface Promised {
  readonly cluster: ConnectionId;
  readonly networks: readonly Cidr[];
  readonly ranges: Ranges;
}

export function promisedTo(sources: readonly JudgedSource[]): Promised[] {
  return sources.flatMap(({ connection, entry }) => {
    const networks = declaredNetworks(entry);
    return connection ? [{ cluster: connection, networks, ranges: rangesOf(networks) }] : [];
  });
}

/**
 * What a node says of itself beyond what its entry declares (its own addresses, its endpoint) is nothing where another
 * cluster is declared to have it: else a node could keep others out by naming their addresses. What is on a Peer already
 * is not asked: else a declaration could take it away.
 */
export function trespasses(promised: readonly Promised[], cluster: ConnectionId, route: Cidr): boolean {
  if (promised.some((own) => own.cluster === cluster && own.ranges.covers(route))) return false;
  return promised.some((other) => other.cluster !== cluster && other.ranges.touches(route));
}

export function endpointTrespasses(promised: readonly Promised[], cluster: ConnectionId, endpoint: Endpoint): boolean {
  const address = parseIp(hostText(endpoint));
  return address !== undefined && trespasses(promised, cluster, hostRoute(address));
}

interface Routed {
  readonly cluster: ConnectionId;
  readonly routes: readonly Cidr[];
}

/** For each cluster what no endpoint of it may lie in: its own routes, and the networks of the others. */
export function tunnelsAround(
  promised: readonly Promised[],
  routed: readonly Routed[],
): ReadonlyMap<ConnectionId, Ranges> {
  const byCluster = Map.groupBy(routed, ({ cluster }) => cluster);
  return new Map(
    [...byCluster].map(([cluster, own]) => {
      const others = promised.filter((other) => other.cluster !== cluster);
      return [
        cluster,
        rangesOf([...own.flatMap(({ routes }) => routes), ...others.flatMap(({ networks }) => networks)]),
      ];
    }),
  );
}
