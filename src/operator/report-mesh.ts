import { isDeepStrictEqual } from "node:util";
import type { ClusterMeshObject, MeshRecord } from "../api/cluster-mesh.ts";
import type { ClusterMeshStatus } from "../api/schema.ts";
import { renderLedger, replacedIn } from "../api/stored-status.ts";
import { type DrainRow, drainState, isServed } from "../core/drain.ts";
import type { ConnectionId, MeshId } from "../core/ids.ts";
import { isInSpec, type LedgerRow, rowText } from "../core/ledger.ts";
import { type Leftover, replacedText } from "../core/release.ts";
import {
  deletionStatus,
  type MeshStatus,
  type MeshStatusInput,
  meshStatus,
  type RefusedStatus,
  refusedStatus,
  type TargetReport,
} from "../core/status.ts";
import type { World } from "../core/world.ts";
import type { Clock } from "../runtime/clock.ts";
import { done, failed, type Outcome, waiting } from "../runtime/outcome.ts";
import { eventsBetween, type MeshEvent } from "./mesh-events.ts";
import { renderStatus, type StatusPatch, statusPatch } from "./render-status.ts";

export interface ReportPorts {
  readonly mesh: (id: MeshId) => MeshRecord | undefined;
  readonly observe: () => World | undefined;
  readonly reports: ReadonlyMap<ConnectionId, TargetReport>;
  readonly nodeCommands?: NonNullable<MeshStatusInput["nodeCommands"]>;
  readonly clock: Clock;
  /** For how long we have been looking: what is unknown at first is no news. */
  readonly uptimeMs: () => number;
  /** What was last written to the status of each mesh. */
  readonly written: Map<MeshId, WrittenStatus>;
  /** A merge patch, of this version of the mesh alone if one is named; returns what was refused. */
  readonly patchStatus: (
    object: ClusterMeshObject,
    status: StatusPatch,
    version?: string,
  ) => Promise<Error | undefined>;
  /** Where each row of a mesh's ledger leads. */
  readonly ledger: (id: MeshId) => readonly DrainRow[];
  /** Says which clusters that nothing leads to any more may hold Peers of a mesh. */
  readonly tellLeftovers: (object: ClusterMeshObject, leftovers: readonly Leftover[]) => void;
  /** Records what happened. */
  readonly tell: (object: ClusterMeshObject, events: readonly MeshEvent[]) => void;
}

export interface WrittenStatus {
  /** On the monotonic clock. */
  readonly atMs: number;
  readonly status: ClusterMeshStatus;
}

const betweenWritesMs = 10_000;
/** An older definition drops fields of ours: then the same status would be written for ever. */
const beforeSameAgainMs = 300_000;

/**
 * One mesh → its status. Nothing is written while nothing changed, and at most one write in ten seconds. Where time alone
 * will change something, it looks again then.
 */
export async function reportMesh(id: MeshId, ports: ReportPorts): Promise<Outcome> {
  const record = ports.mesh(id);
  const world = ports.observe();
  const now = record && statusNow(record, world, ports);
  if (!record || !now) return done;
  const outcome = now.changesInMs === undefined ? done : waiting("a credential ends", now.changesInMs);
  const before = record.object.status ?? {};
  const ledger = ledgerNow(record, world, ports.ledger(id));
  const status = renderStatus(now, { before, ledger, at: ports.clock.date() });
  if (!isDeepStrictEqual(status, before) && isNoNewsYet(record, status, ports)) return waiting("starting", 1000);
  const written = await writeStatus(record, status, ports);
  return written.kind === "done" ? outcome : written;
}

/** A mesh whose deletion is held up → its conditions. What was said of its clusters stays: it is not looked at any more. */
export async function reportDeletion(
  record: MeshRecord,
  held: readonly string[],
  ports: ReportPorts,
): Promise<Error | undefined> {
  const { metadata, status: before = {} } = record.object;
  const said = deletionStatus(metadata.generation ?? 0, held);
  const { conditions } = renderStatus(said, { before, ledger: [], at: ports.clock.date() });
  const outcome = await writeStatus(
    record,
    { ...before, observedGeneration: said.observedGeneration, conditions },
    ports,
  );
  return outcome.kind === "failed" ? outcome.error : undefined;
}

async function writeStatus(record: MeshRecord, status: ClusterMeshStatus, ports: ReportPorts): Promise<Outcome> {
  const { id } = record;
  const before = record.object.status ?? {};
  if (isDeepStrictEqual(status, before)) return done;
  const waitMs = waitBefore(status, ports.written.get(id)) - ports.clock.now();
  if (waitMs > 0) return waiting("status written recently", waitMs);
  const patch = statusPatch(status, before);
  // Somebody may have extended the ledger since: what he wrote must not be lost.
  const version = "ledger" in patch ? record.object.metadata.resourceVersion : undefined;
  const failure = await ports.patchStatus(record.object, patch, version);
  if (failure) return failed(failure);
  ports.written.set(id, { atMs: ports.clock.now(), status });
  ports.tell(record.object, eventsBetween(before, status));
  const forgotten = forgottenIn(before, status, ports.ledger(id));
  if (forgotten.length > 0) ports.tellLeftovers(record.object, forgotten);
  return done;
}

/** Clusters that another operator, which is no more, was emptying when their Secrets had changed: we cannot reach them. */
function forgottenIn(before: ClusterMeshStatus, now: ClusterMeshStatus, rows: readonly DrainRow[]): Leftover[] {
  const followed = new Set(rows.filter((row) => row.before !== undefined).map(({ cluster }) => cluster));
  const lost = [...replacedIn(before)].filter((name) => !replacedIn(now).has(name) && !followed.has(name));
  return lost.map((cluster) => ({ cluster, why: replacedText }));
}

/** So long everything is listed for the first time; a cluster that does not answer may take longer. */
const startingMs = 10_000;
const connectingMs = 60_000;

/** A predecessor's word on this very spec stands until we have looked at everything; so does silence. */
function isNoNewsYet({ id, state, object }: MeshRecord, status: ClusterMeshStatus, ports: ReportPorts): boolean {
  const uptimeMs = ports.uptimeMs();
  if (state !== "valid" || uptimeMs >= connectingMs || ports.written.has(id)) return false;
  const isSaid = object.status?.observedGeneration === status.observedGeneration;
  return uptimeMs < startingMs ? isSaid || readyOf(status)?.status !== "True" : isSaid && isLooking(status);
}

function isLooking(status: ClusterMeshStatus): boolean {
  const isConnecting = ({ reason = "" }): boolean => reason === "Connecting" || reason === "SecretUnknown";
  return readyOf(status)?.reason === "Syncing" || (status.clusters ?? []).some(isConnecting);
}

const readyOf = ({ conditions }: ClusterMeshStatus) => conditions?.find(({ type }) => type === "Ready");

/** The moment from which the status may be written. */
function waitBefore(status: ClusterMeshStatus, last: WrittenStatus | undefined): number {
  if (!last) return Number.NEGATIVE_INFINITY;
  return last.atMs + (isDeepStrictEqual(last.status, status) ? beforeSameAgainMs : betweenWritesMs);
}

/**
 * Rows stay while the spec names them, or their cluster may hold Peers and the spec does not lead there either. They are
 * those of the mesh as it is stored: one that was added since the clusters were last looked up has not been judged.
 */
function ledgerNow(
  record: MeshRecord,
  world: World | undefined,
  judged: readonly DrainRow[],
): NonNullable<ClusterMeshStatus["ledger"]> {
  const mesh = record.state === "valid" ? record.mesh : undefined;
  const isLookedUp = world?.meshes.some(
    ({ mesh: { id, generation } }) => id === mesh?.id && generation === mesh.generation,
  );
  const judgedRows = new Map(judged.map((row) => [rowText(row), row]));
  const stays = (row: LedgerRow): boolean => {
    const found = judgedRows.get(rowText(row));
    if (!mesh || !world || !isLookedUp || !found || isInSpec(mesh, row)) return true;
    return !isServed(world, mesh.id, found) && drainState(world, mesh.id, found) !== "empty";
  };
  return renderLedger(record.ledger.filter(stays));
}

type StatusNow = MeshStatus | (RefusedStatus & Pick<MeshStatus, "changesInMs">);

function statusNow(record: MeshRecord, world: World | undefined, ports: ReportPorts): StatusNow | undefined {
  if (record.state === "refused") return refusedStatus(record.object.metadata.generation ?? 0, record.problems);
  const { reports, nodeCommands = new Map(), clock } = ports;
  const connected = world?.meshes.find(({ mesh }) => mesh.id === record.id);
  if (!world || !connected) return undefined;
  const ledger = ports.ledger(record.id);
  return meshStatus({ world, connected, reports, nodeCommands, ledger, nowMs: clock.date().getTime() });
}
