import type { ClusterMeshObject, MeshRecord } from "../api/cluster-mesh.ts";
import { finalizer } from "../api/names.ts";
import { renderLedger, replacedIn } from "../api/stored-status.ts";
import type { MeshId } from "../core/ids.ts";
import { ledgerWith } from "../core/ledger.ts";
import { type Deletion, releaseOf } from "../core/release.ts";
import type { World } from "../core/world.ts";
import type { Clock } from "../runtime/clock.ts";
import { done, failed, type Outcome, waiting } from "../runtime/outcome.ts";
import { type ReportPorts, reportDeletion, reportMesh } from "./report-mesh.ts";

export interface TendPorts extends ReportPorts {
  /** A merge patch; returns what was refused. */
  readonly patchMeta: (object: ClusterMeshObject, metadata: object) => Promise<Error | undefined>;
}

const lookAgainMs = 1000;
const soonSeconds = 5;
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
 * finalizer is new, and nobody has extended its ledger yet. One that was never accepted needs neither: if it has the
 * finalizer, the Go operator has served it.
 */
async function claimMesh(record: MeshRecord, ports: TendPorts): Promise<Error | undefined> {
  const { object, ledger } = record;
  const { resourceVersion, finalizers = [] } = object.metadata;
  if (record.state === "refused" && ledger.length === 0) return undefined;
  const isNew = !finalizers.includes(finalizer);
  if (isNew) {
    const refusal = await ports.patchMeta(object, { resourceVersion, finalizers: [...finalizers, finalizer] });
    if (refusal) return refusal;
  }
  const rows = record.state === "valid" ? ledgerWith(record.named.rows, ledger) : ledger;
  if (rows === ledger) return undefined;
  return ports.patchStatus(object, { ledger: renderLedger(rows) }, isNew ? undefined : resourceVersion);
}

async function releaseMesh(record: MeshRecord, ports: TendPorts): Promise<Outcome> {
  const { id, object } = record;
  const finalizers = object.metadata.finalizers ?? [];
  if (!finalizers.includes(finalizer)) return done;
  const world = ports.observe();
  if (!world?.draining.some((mesh) => mesh.id === id)) return waiting("clusters not looked up", lookAgainMs);
  const { blocking, held, leftovers } = releaseOf(deletionOf(record, world, ports));
  if (blocking > 0) return explain(record, held, ports);
  const { resourceVersion } = object.metadata;
  const rest = finalizers.filter((name) => name !== finalizer);
  const failure = await ports.patchMeta(object, { resourceVersion, finalizers: rest });
  if (failure) return failed(failure);
  if (leftovers.length > 0) ports.tellLeftovers(object, leftovers);
  ports.written.delete(id);
  return done;
}

function deletionOf(record: MeshRecord, world: World, { reports, ledger, clock, uptimeMs }: TendPorts): Deletion {
  const { id, object, deletionTimeoutSeconds } = record;
  const replaced = replacedIn(object.status ?? {});
  const waited = waitedSeconds(record, clock);
  const timeoutSeconds = uptimeMs() < lookingMs ? Number.POSITIVE_INFINITY : deletionTimeoutSeconds;
  return { world, reports, mesh: id, rows: ledger(id), waitedSeconds: waited, timeoutSeconds, replaced };
}

/** Of a deletion that is soon over nobody has to hear, nor of what is not reached yet. */
async function explain(record: MeshRecord, held: readonly string[], ports: TendPorts): Promise<Outcome> {
  const seconds = Math.min(waitedSeconds(record, ports.clock), ports.uptimeMs() / 1000);
  const failure = held.length > 0 && seconds >= soonSeconds ? await reportDeletion(record, held, ports) : undefined;
  return failure ? failed(failure) : waiting("clusters hold Peers", lookAgainMs);
}

function waitedSeconds({ deletedAt }: MeshRecord, clock: Clock): number {
  return (clock.date().getTime() - Date.parse(deletedAt ?? "")) / 1000;
}
