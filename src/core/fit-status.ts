import type { ClusterStatus } from "./cluster-status.ts";
import { cutText } from "./cut-text.ts";
import type { ReasonRow } from "./reason-rows.ts";
import type { MeshStatus } from "./status.ts";

/** A status that fits, and how many clusters it does not show. */
export interface FittedStatus extends MeshStatus {
  readonly clustersLeftOut?: number;
}

type Shorten = (cluster: ClusterStatus) => ClusterStatus;

/** What a status gives up, one after the other, until it fits: the reasons and counts go last. */
const steps: readonly Shorten[] = [
  (cluster) => withRows(cluster, (row) => ({ ...row, examples: row.examples.slice(0, 2).map(shortName) })),
  (cluster) => withRows(cluster, (row) => ({ ...row, examples: [] })),
  ({ message: _, ...cluster }) => cluster,
  ({ skipped: _, notes: __, ...cluster }) => cluster,
];

const shortName = (text: string): string => cutText(text, 63);

function withRows(
  cluster: ClusterStatus,
  change: <R extends string>(row: ReasonRow<R>) => ReasonRow<R>,
): ClusterStatus {
  const { skipped, notes } = cluster;
  return {
    ...cluster,
    ...(skipped && { skipped: skipped.map((row) => change(row)) }),
    ...(notes && { notes: notes.map((row) => change(row)) }),
  };
}

/**
 * The status within so many bytes of JSON, whatever it is of: first its details get shorter, then clusters are left out
 * from the end. The conditions stay as they are; each is short by itself.
 */
export function fitStatus(status: MeshStatus, mostBytes: number): FittedStatus {
  let fitted = status;
  for (const shorten of steps) {
    if (bytesOf(fitted) <= mostBytes) return fitted;
    fitted = { ...fitted, clusters: fitted.clusters.map(shorten) };
  }
  return bytesOf(fitted) <= mostBytes ? fitted : withoutLast(fitted, mostBytes);
}

function withoutLast(status: MeshStatus, mostBytes: number): FittedStatus {
  let room = mostBytes - bytesOf({ ...status, clusters: [], clustersLeftOut: status.clusters.length });
  const shown = status.clusters.filter((cluster) => {
    room -= bytesOf(cluster) + 1;
    return room >= 0;
  });
  return { ...status, clusters: shown, clustersLeftOut: status.clusters.length - shown.length };
}

const encoder = new TextEncoder();

/** Of its JSON, which is what the API server stores. */
export function bytesOf(value: unknown): number {
  return encoder.encode(JSON.stringify(value)).length;
}
