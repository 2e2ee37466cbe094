import { type ConnectionId, localConnection } from "../core/ids.ts";
import type { TargetReport } from "../core/status.ts";
import type { EntryConnection } from "../core/world.ts";
import type { ConnectionSummary, InformerSummary } from "../registry/summary.ts";
import type { RecordedMetrics } from "./operator-metrics.ts";
import type { OperatorState } from "./operator-state.ts";

/** Adds what the operator's state says now. Its cost is the number of series, skipped nodes and kept Peers. */
export function fillMetrics(metrics: RecordedMetrics, state: OperatorState, now: Date): void {
  for (const connection of state.connections()) {
    fillConnection(metrics, connection, { instance: state.instance, now });
    fillInformers(metrics, connection.id, connection.informers);
  }
  fillInformers(metrics, localConnection, state.informers());
  for (const [target, report] of state.reports) fillReport(metrics, target, report);
  fillMeshes(metrics, state);
  fillEntries(metrics, state);
  fillSkipped(metrics, state.reports.values());
  for (const [controller, { waiting, running, retrying }] of Object.entries(state.queues)) {
    metrics.series.add("kilo_clustermesh_queue_waiting", { controller }, waiting);
    metrics.series.add("kilo_clustermesh_queue_running", { controller }, running);
    metrics.series.add("kilo_clustermesh_queue_retrying", { controller }, retrying);
  }
  metrics.series.add("kilo_clustermesh_events_dropped_total", {}, state.eventsDropped());
}

interface Moment {
  readonly instance: string;
  readonly now: Date;
}

function fillConnection(metrics: RecordedMetrics, summary: ConnectionSummary, { instance, now }: Moment): void {
  const { id, unknown, nodes, peers, credential } = summary;
  const { series } = metrics;
  const labels = metrics.labels(id);
  series.add("kilo_clustermesh_cluster_known", { ...labels, reason: unknown ?? "" }, unknown ? 0 : 1);
  if (nodes !== undefined) series.add("kilo_clustermesh_nodes", labels, nodes);
  if (peers) series.add("kilo_clustermesh_peers", labels, peers.get(instance) ?? 0);
  if (!credential) return;
  const seconds = Math.round((credential.atMs - now.getTime()) / 1000);
  series.add("kilo_clustermesh_credential_expiry_seconds", { ...labels, kind: credential.kind }, seconds);
}

function fillInformers(metrics: RecordedMetrics, id: ConnectionId, informers: readonly InformerSummary[]): void {
  for (const { resource, lists, streamsEnded, readFailures } of informers) {
    const labels = { ...metrics.labels(id), resource };
    metrics.series.add("kilo_clustermesh_lists_total", labels, lists);
    metrics.series.add("kilo_clustermesh_watch_streams_ended_total", labels, streamsEnded);
    for (const [failure, count] of readFailures) {
      const [verb = "", kind = ""] = failure.split(" ");
      metrics.series.add("kilo_clustermesh_reads_failed_total", { ...labels, verb, kind }, count);
    }
  }
}

function fillReport(metrics: RecordedMetrics, target: ConnectionId, { plan, pending }: TargetReport): void {
  if (plan.state === "unknown") return;
  const { series } = metrics;
  const labels = metrics.labels(target);
  series.add("kilo_clustermesh_changes_pending", labels, pending);
  series.add("kilo_clustermesh_peers_taken", labels, plan.taken.length);
  series.add("kilo_clustermesh_legacy_orphans", labels, plan.ghosts);
  series.add("kilo_clustermesh_routes_refused", labels, plan.refused.length);
  const held = plan.kept.filter(({ reason }) => reason === "WithdrawalHeld");
  series.add("kilo_clustermesh_withdrawals_held", labels, held.length);
  for (const { reason } of plan.kept) series.add("kilo_clustermesh_peers_kept", { ...labels, reason });
}

function fillMeshes({ series }: RecordedMetrics, state: OperatorState): void {
  for (const { id, object } of state.meshes()) {
    const ready = object.status?.conditions?.find(({ type }) => type === "Ready");
    const labels = { mesh: id, reason: ready?.reason ?? "" };
    series.add("kilo_clustermesh_mesh_ready", labels, ready?.status === "True" ? 1 : 0);
  }
}

function fillEntries({ series }: RecordedMetrics, state: OperatorState): void {
  const unknown = new Map<string, string | undefined>(
    state.connections().map((summary) => [summary.id, summary.unknown]),
  );
  const reasonOf = (connection: EntryConnection): string => {
    if (connection.state === "unknown") return connection.reason;
    return (unknown.has(connection.id) ? unknown.get(connection.id) : "Connecting") ?? "";
  };
  for (const { mesh, connections } of state.topology()?.meshes ?? []) {
    for (const [cluster, entry] of connections) {
      const reason = reasonOf(entry);
      const connection = entry.state === "connected" ? entry.id : "";
      const labels = { mesh: mesh.id, cluster, connection, reason };
      series.add("kilo_clustermesh_entry_known", labels, reason === "" ? 1 : 0);
    }
  }
}

/** A node that is skipped is so in every target that it would be given to; it counts once. */
function fillSkipped({ series }: RecordedMetrics, reports: Iterable<TargetReport>): void {
  const sources = [...reports].flatMap(({ plan }) => (plan.state === "known" ? plan.sources : []));
  const seen = new Set<string>();
  for (const { mesh, source, skipped } of sources) {
    for (const { name, reason } of skipped) {
      const key = `${mesh} ${source} ${reason} ${name}`;
      if (!seen.has(key)) series.add("kilo_clustermesh_nodes_skipped", { mesh, cluster: source, reason });
      seen.add(key);
    }
  }
}
