import { isDeepStrictEqual } from "node:util";
import type { ClusterMeshStatus } from "../api/schema.ts";
import { type Condition, mergeConditions } from "../core/conditions.ts";
import { timeText } from "../core/credentials.ts";
import { bytesOf, fitStatus } from "../core/fit-status.ts";
import type { ClusterStatus, MeshStatus, RefusedStatus } from "../core/status.ts";

/** A merge patch of a status: null takes a field away. */
export type StatusPatch = { readonly [Field in keyof ClusterMeshStatus]?: ClusterMeshStatus[Field] | null };

export interface RenderContext {
  readonly before: ClusterMeshStatus;
  readonly ledger: NonNullable<ClusterMeshStatus["ledger"]>;
  readonly at: Date;
}

const mostBytes = 63 * 1024;
/** Left for the status where the ledger, which is never shortened, takes nearly all. */
const leastBytes = 8 * 1024;
/** What each condition gets when it is written: the time of its transition. */
const timesBytes = 512;

/** The status as it is stored: below 64 KiB, unless the ledger alone is nearly that. */
export function renderStatus(
  now: MeshStatus | RefusedStatus,
  { before, ledger, at }: RenderContext,
): ClusterMeshStatus {
  const room = mostBytes - timesBytes - bytesOf(ledger);
  return {
    observedGeneration: now.observedGeneration,
    ...("clusters" in now && saidOfClusters(now, before, Math.max(leastBytes, room))),
    conditions: mergeConditions((before.conditions ?? []) as Condition[], now.conditions, timeText(at.getTime())),
    ...(ledger.length > 0 && { ledger }),
  };
}

function saidOfClusters(now: MeshStatus, before: ClusterMeshStatus, room: number) {
  const { changesInMs: _, ...said } = now;
  const steady = { ...said, clusters: said.clusters.map((cluster) => steadied(cluster, before)) };
  const { clusters, clustersLeftOut } = fitStatus(steady, room);
  return { summary: summaryOf(now.clusters), clusters, ...(clustersLeftOut !== undefined && { clustersLeftOut }) };
}

/** How exactly a cluster does not answer differs from try to try, and is no change of state. */
function steadied(cluster: ClusterStatus, { clusters = [] }: ClusterMeshStatus): ClusterStatus {
  if (cluster.reason !== "Unreachable") return cluster;
  const was = clusters.find(({ name }) => name === cluster.name);
  return was?.reason === cluster.reason && was.message ? { ...cluster, message: was.message } : cluster;
}

function summaryOf(clusters: readonly ClusterStatus[]): NonNullable<ClusterMeshStatus["summary"]> {
  const total = (count: (cluster: ClusterStatus) => number): number =>
    clusters.reduce((sum, cluster) => sum + count(cluster), 0);
  const up = total(({ links }) => links?.up ?? 0);
  return {
    clusters: `${clusters.filter(({ state }) => state === "Known").length}/${clusters.length}`,
    peers: total(({ registeredPeers }) => registeredPeers),
    skipped: total(({ skippedNodes }) => skippedNodes),
    links: `${up}/${total(({ links }) => links?.expected ?? 0)}`,
  };
}

/** What makes `before` be `status`. Nothing is said of a ledger that stays: who writes it must know the latest one. */
export function statusPatch({ ledger, ...status }: ClusterMeshStatus, before: ClusterMeshStatus): StatusPatch {
  const gone = Object.keys(before).filter((field) => field !== "ledger" && !(field in status));
  const changed = isDeepStrictEqual(ledger, before.ledger) ? {} : { ledger: ledger ?? null };
  return { ...Object.fromEntries(gone.map((field) => [field, null])), ...status, ...changed };
}
