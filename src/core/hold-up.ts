import { type DrainRow, drainState, heldOf } from "./drain.ts";
import type { ConnectionId, MeshId } from "./ids.ts";
import type { UnknownReason } from "./reasons.ts";
import type { TargetReport } from "./status.ts";
import type { World } from "./world.ts";

/** What is known of the clusters, and what the last run over each came to. */
export interface DrainView {
  readonly world: World;
  readonly reports: ReadonlyMap<ConnectionId, TargetReport>;
}

/**
 * Why a cluster is not being emptied of a mesh's Peers, in our words: it does not answer, it refuses, or somebody's
 * finalizers keep them. Nothing while it is on its way.
 */
export function heldUp({ world, reports }: DrainView, mesh: MeshId, row: DrainRow): string | undefined {
  const state = drainState(world, mesh, row);
  const id = speakerOf(world, row);
  if (state === "unreachable") return unknownAt(world, row, id);
  const report = id && reports.get(id);
  if (state !== "holds" || !report || report.plan.state !== "known") return undefined;
  const denied = report.refusals.filter(({ owners, isDenied }) => isDenied && owners.includes(mesh));
  const [first] = denied;
  if (first) return denied.length > 1 ? `${first.text}, and ${denied.length - 1} more` : first.text;
  const isDone = report.spec === world.spec && report.pending === 0 && report.refusals.length === 0;
  return isDone ? standstill(world, mesh, id) : undefined;
}

/** Nothing more will be written there as things are. */
function standstill(world: World, mesh: MeshId, id: ConnectionId): string | undefined {
  const kept = heldOf(world, mesh, id).find(({ isTerminating }) => isTerminating);
  if (kept) return `${kept.name} is kept by its finalizers`;
  const nodes = world.clusters.get(id)?.nodes;
  return nodes?.state === "unknown" ? `its nodes are unknown, ${nodes.reason}` : undefined;
}

function unknownAt({ clusters }: World, { connection }: DrainRow, id: ConnectionId | undefined): UnknownReason {
  if (connection.state === "unknown") return connection.reason;
  const peers = id && clusters.get(id)?.peers;
  return peers?.state === "unknown" ? peers.reason : "Connecting";
}

/** The connection that speaks for the cluster of a row. */
export function speakerOf({ twins }: World, { connection }: DrainRow): ConnectionId | undefined {
  return connection.state === "connected" ? (twins.get(connection.id) ?? connection.id) : undefined;
}
