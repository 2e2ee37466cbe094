import type { ClusterMeshObject, MeshRecord } from "../api/cluster-mesh.ts";
import { finalizer } from "../api/names.ts";
import { renderLedger } from "../api/stored-status.ts";
import { type DrainState, drainState } from "../core/drain.ts";
import type { MeshId } from "../core/ids.ts";
import { ledgerWith } from "../core/ledger.ts";
import type { World } from "../core/world.ts";
import type { Clock } from "../runtime/clock.ts";
import { done, failed, type Outcome, waiting } from "../runtime/outcome.ts";
import { type ReportPorts, reportMesh } from "./report-mesh.ts";

export interface TendPorts extends ReportPorts {
  /** A merge patch; returns what was refused. */
  readonly patchMeta: (object: ClusterMeshObject, metadata: object) => Promise<Error | undefined>;
  /** Says which clusters may hold leftovers of a mesh that is gone. */
  readonly tellLeftovers: (object: ClusterMeshObject, clusters: readonly string[]) => void;
}

const lookAgainMs = 1000;
/** How long a deletion waits for a cluster whose Secret is gone and whose connection is still open. */
const partingSeconds = 5;
/** And for Peers that another mesh owns as well: nobody waits until that one is known or accepted again. */
const sharedSeconds = 5;
/** Who has been looking for less than this has not heard of every cluster, however old the deletion is. */
const lookingMs = 60_000;

/** One mesh → its finalizer and ledger, then its status; a deleted one is released when its Peers are gone. */
export async function tendMesh(id: MeshId, ports: TendPorts): Promise<Outcome> {
  const record = ports.mesh(id);
  if (!record) return done;
  if (record.deletedAt) return releaseMesh(record, ports);
  const failure = await claimMesh(record, ports);
  return failure ? failed(failure) : reportMesh(id, ports);
}

/**
 * The finalizer and the ledger come before the first Peer: whatever happens then, somebody cleans up. A mesh without the
 * finalizer is new, and nobody has extended its ledger yet.
 */
async function claimMesh(record: MeshRecord, ports: TendPorts): Promise<Error | undefined> {
  const { object, ledger } = record;
  const { resourceVersion, finalizers = [] } = object.metadata;
  const isNew = !finalizers.includes(finalizer);
  if (isNew) {
    const refusal = await ports.patchMeta(object, { resourceVersion, finalizers: [...finalizers, finalizer] });
    if (refusal) return refusal;
  }
  const rows = record.state === "valid" ? ledgerWith(record.mesh, ledger) : ledger;
  if (rows === ledger) return undefined;
  return ports.patchStatus(object, { ledger: renderLedger(rows) }, isNew ? undefined : resourceVersion);
}

async function releaseMesh(record: MeshRecord, ports: TendPorts): Promise<Outcome> {
  const { id, object } = record;
  const finalizers = object.metadata.finalizers ?? [];
  if (!finalizers.includes(finalizer)) return done;
  const world = ports.observe();
  if (!world) return waiting("world unknown", lookAgainMs);
  const { blocking, leftovers } = drained(world, record, ports);
  if (blocking > 0) return waiting("clusters hold Peers", lookAgainMs);
  const { resourceVersion } = object.metadata;
  const rest = finalizers.filter((name) => name !== finalizer);
  const failure = await ports.patchMeta(object, { resourceVersion, finalizers: rest });
  if (failure) return failed(failure);
  if (leftovers.length > 0) ports.tellLeftovers(object, leftovers);
  ports.written.delete(id);
  return done;
}

/** What still keeps a deleted mesh, and which clusters are given up. */
function drained(world: World, record: MeshRecord, { ledger, clock, uptimeMs }: TendPorts) {
  const states = ledger(record.id).map((row) => ({ cluster: row.cluster, state: drainState(world, record.id, row) }));
  const waited = waitedSeconds(record, clock);
  const unreachable = uptimeMs() < lookingMs ? Number.POSITIVE_INFINITY : record.deletionTimeoutSeconds;
  const limits = { holds: Number.POSITIVE_INFINITY, unreachable, parting: partingSeconds, shared: sharedSeconds };
  const limitOf = (state: DrainState): number => (state === "empty" || state === "lost" ? 0 : limits[state]);
  const blocking = states.filter(({ state }) => waited < limitOf(state)).length;
  const isGivenUp = ({ state }: { readonly state: DrainState }): boolean =>
    !["empty", "holds", "shared"].includes(state);
  const leftovers = [...new Set(states.filter(isGivenUp).map(({ cluster }) => cluster))];
  return { blocking, leftovers };
}

function waitedSeconds({ deletedAt }: MeshRecord, clock: Clock): number {
  return (clock.date().getTime() - Date.parse(deletedAt ?? "")) / 1000;
}
