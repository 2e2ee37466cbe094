import { type ConnectionId, localConnection, type MeshId } from "../core/ids.ts";
import { Metrics } from "../runtime/metrics.ts";
import type { Outcome } from "../runtime/outcome.ts";
import type { Topology } from "./connect-clusters.ts";
import type { WriteCall } from "./count-writes.ts";
import { operatorMetrics } from "./metrics.ts";

/** What the operator counts while it works. */
export interface OperatorMetrics {
  /** What each connection is called from now on. Series of connections that are not among them end. */
  named(names: ReadonlyMap<ConnectionId, string>): void;
  wrote(connection: ConnectionId, write: WriteCall): void;
  /** So long it took from a change of nodes to the last Peer written for it. */
  reacted(target: ConnectionId, ms: number): void;
  reconciled(controller: string, outcome: Outcome["kind"]): void;
  bug(controller: string): void;
  /** A mesh was deleted, or its Secrets lead elsewhere, and these clusters may hold Peers of it. */
  leftovers(mesh: MeshId, clusters: readonly string[]): void;
}

export const silentMetrics: OperatorMetrics = {
  named: () => undefined,
  wrote: () => undefined,
  reacted: () => undefined,
  reconciled: () => undefined,
  bug: () => undefined,
  leftovers: () => undefined,
};

type ClusterLabels = { readonly connection: string; readonly cluster: string };

/** Meshes come and go for ever; so many of their leftovers are remembered. */
const mostLeftovers = 100;

/** The operator's metrics in a registry of their own: what it counts, and what `fillMetrics` reads at a scrape. */
export class RecordedMetrics implements OperatorMetrics {
  readonly series: Metrics<typeof operatorMetrics>;
  readonly #leftovers = new Set<string>();
  #names: ReadonlyMap<ConnectionId, string> = new Map();

  constructor(options: { readonly ofProcess?: boolean } = {}) {
    this.series = new Metrics(operatorMetrics, options);
  }

  labels(connection: ConnectionId): ClusterLabels {
    return { connection, cluster: this.#names.get(connection) ?? (connection === localConnection ? "local" : "") };
  }

  named(names: ReadonlyMap<ConnectionId, string>): void {
    this.#names = names;
    this.series.forget(({ connection, cluster }) => {
      if (connection === undefined) return false;
      const id = connection as ConnectionId;
      const isOpen = names.has(id) || id === localConnection;
      return !isOpen || this.labels(id).cluster !== cluster;
    });
  }

  wrote(connection: ConnectionId, write: WriteCall): void {
    this.series.add("kilo_clustermesh_writes_total", { ...this.labels(connection), ...write });
  }

  reacted(target: ConnectionId, ms: number): void {
    this.series.observe("kilo_clustermesh_reaction_seconds", this.labels(target), ms / 1000);
  }

  reconciled(controller: string, outcome: Outcome["kind"]): void {
    this.series.add("kilo_clustermesh_reconciles_total", { controller, outcome });
    this.series.add("kilo_clustermesh_bugs_total", { controller }, 0);
  }

  bug(controller: string): void {
    this.series.add("kilo_clustermesh_bugs_total", { controller });
  }

  leftovers(mesh: MeshId, clusters: readonly string[]): void {
    for (const cluster of clusters) {
      this.series.add("kilo_clustermesh_leftovers_total", { mesh, cluster });
      this.#rememberLeftover(`${mesh} ${cluster}`);
    }
  }

  #rememberLeftover(leftover: string): void {
    this.#leftovers.delete(leftover);
    this.#leftovers.add(leftover);
    const [oldest] = this.#leftovers;
    if (this.#leftovers.size <= mostLeftovers || oldest === undefined) return;
    this.#leftovers.delete(oldest);
    this.series.forget(({ mesh, cluster }) => `${mesh} ${cluster}` === oldest);
  }
}

const mostNames = 3;

/** What the meshes call each connection: a few names in order, the same for any order of the meshes. */
export function clusterNames({ meshes, ledgers }: Topology): Map<ConnectionId, string> {
  const names = new Map<ConnectionId, Set<string>>();
  const add = (id: ConnectionId, name: string): void => void names.set(id, (names.get(id) ?? new Set()).add(name));
  for (const { connections } of meshes)
    for (const [name, connection] of connections) if (connection.state === "connected") add(connection.id, name);
  for (const rows of ledgers.values())
    for (const { cluster, connection } of rows) if (connection.state === "connected") add(connection.id, cluster);
  return new Map([...names].map(([id, all]) => [id, joined([...all].sort())]));
}

function joined(names: readonly string[]): string {
  const more = names.length - mostNames;
  return names.slice(0, mostNames).join(",") + (more > 0 ? `,+${more}` : "");
}

/** What `runController` needs so that its runs are counted. */
export function counting(name: string, metrics: OperatorMetrics) {
  return {
    name,
    onOutcome: (_: string, { kind }: Outcome): void => metrics.reconciled(name, kind),
    onBug: (): void => metrics.bug(name),
  };
}
