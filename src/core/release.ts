import { type DrainRow, type DrainState, drainState } from "./drain.ts";
import { type DrainView, heldUp, speakerOf } from "./hold-up.ts";
import type { ClusterName, MeshId } from "./ids.ts";
import { areTwoClusters } from "./same-cluster.ts";

/** A cluster in which a deleted mesh may have left Peers, and why. */
export interface Leftover {
  readonly cluster: ClusterName;
  readonly why: string;
}

export interface Deletion extends DrainView {
  readonly mesh: MeshId;
  readonly rows: readonly DrainRow[];
  readonly waitedSeconds: number;
  /** For how long a cluster that does not answer, or refuses, is waited for. */
  readonly timeoutSeconds: number;
  /** Those that were said to be another cluster than before, whoever said so. */
  readonly replaced: ReadonlySet<ClusterName>;
}

export interface Release {
  /** How many clusters are still waited for. */
  readonly blocking: number;
  /** Those that a person can do something about, each with what keeps it. */
  readonly held: readonly string[];
  readonly leftovers: readonly Leftover[];
}

/**
 * `stuck` is one that holds Peers and does not lose them; `begun` one in which a write from before the deletion may still be
 * under way.
 */
type Progress = DrainState | "stuck" | "begun";

/** How long a deletion waits for a cluster whose Secret is gone and whose connection is still open. */
const partingSeconds = 5;
/** And for Peers that another mesh owns as well: nobody waits until that one is known or accepted again. */
const sharedSeconds = 5;

/** What still keeps a deleted mesh, and which clusters are given up when nothing does any more. */
export function releaseOf(deletion: Deletion): Release {
  const found = deletion.rows.flatMap((row) => [
    { cluster: row.cluster, ...progressOf(deletion, row) },
    ...pastOf(deletion, row),
  ]);
  const awaited = found.filter(({ progress }) => deletion.waitedSeconds < limitOf(progress, deletion));
  const given = found.filter(({ progress }) => !["empty", "shared", "holds"].includes(progress));
  return {
    blocking: awaited.length,
    held: awaited.flatMap(({ cluster, why }) => (why === undefined ? [] : [`${cluster}: ${why}`])),
    leftovers: onceEach(given.map(({ cluster, why = "its Secret is gone" }) => ({ cluster, why }))),
  };
}

/** A cluster that was reached through two Secrets is one. */
const onceEach = (all: readonly Leftover[]): readonly Leftover[] => [
  ...new Map(all.map((one) => [`${one.cluster} ${one.why}`, one])).values(),
];

/** Of a cluster to which nothing leads any more. */
export const replacedText = "where its Secret led before";

/** The cluster that its Secret led to before: as one whose Secret is gone. */
function pastOf(deletion: Deletion, row: DrainRow) {
  const { world, mesh, replaced } = deletion;
  const { cluster, before, connection } = row;
  if (before === undefined)
    return replaced.has(cluster) ? [{ cluster, progress: "lost", why: replacedText } as const] : [];
  if (before === "closed" || (connection.state === "connected" && !areTwoClusters(world, before, connection.id)))
    return [];
  const gone: DrainRow = { ...row, connection: { state: "unknown", reason: "SecretMissing" }, last: before };
  return [{ cluster, progress: drainState(world, mesh, gone), why: replacedText }];
}

function limitOf(progress: Progress, { timeoutSeconds }: Deletion): number {
  if (progress === "empty" || progress === "lost") return 0;
  if (progress === "parting") return partingSeconds;
  if (progress === "shared") return sharedSeconds;
  return progress === "holds" ? Number.POSITIVE_INFINITY : timeoutSeconds;
}

function progressOf(deletion: Deletion, row: DrainRow): { readonly progress: Progress; readonly why?: string } {
  const { world, mesh } = deletion;
  const state = drainState(world, mesh, row);
  if (state === "empty" && !isPlanned(deletion, row)) return { progress: "begun", why: "not looked at yet" };
  const why = heldUp(deletion, mesh, row);
  if (why === undefined) return { progress: state };
  return { progress: state === "holds" ? "stuck" : state, why };
}

/** What was planned for a cluster before the mesh was deleted has come to its end. Where no Peers can be, nothing was. */
function isPlanned({ world, reports }: Deletion, row: DrainRow): boolean {
  const id = speakerOf(world, row);
  const isKnown = id !== undefined && world.clusters.get(id)?.peers.state === "known";
  return !isKnown || reports.get(id)?.spec === world.spec;
}
