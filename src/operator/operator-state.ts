import type { MeshRecord } from "../api/cluster-mesh.ts";
import type { ConnectionId } from "../core/ids.ts";
import type { TargetReport } from "../core/status.ts";
import type { Knowledge } from "../kube/informer.ts";
import type { ConnectionSummary, InformerSummary } from "../registry/summary.ts";
import type { Topology } from "./connect-clusters.ts";

/** How full a queue is. */
export interface QueueSummary {
  readonly waiting: number;
  readonly running: number;
  readonly retrying: number;
}

/** What an operator at work lets others look at. All of it is memory: looking costs no request. */
export interface OperatorState {
  readonly instance: string;
  readonly knowledge: () => Knowledge;
  /** The list of meshes was complete at least once. */
  readonly wasListed: () => boolean;
  readonly meshes: () => Iterable<MeshRecord>;
  readonly topology: () => Topology | undefined;
  readonly connections: () => readonly ConnectionSummary[];
  readonly reports: ReadonlyMap<ConnectionId, TargetReport>;
  /** Those of the local cluster that no connection has. */
  readonly informers: () => readonly InformerSummary[];
  /** By controller. */
  readonly queues: Readonly<Record<string, QueueSummary>>;
  readonly eventsDropped: () => number;
}
