import { isDeepStrictEqual } from "node:util";
import { type ClusterMeshObject, type MeshRecord, renderLedger } from "../api/cluster-mesh.ts";
import type { ClusterMeshStatus } from "../api/schema.ts";
import { type Condition, mergeConditions } from "../core/conditions.ts";
import { type DrainRow, drainState } from "../core/drain.ts";
import type { ConnectionId, MeshId } from "../core/ids.ts";
import { isInSpec } from "../core/ledger.ts";
import { type MeshStatus, meshStatus, refusedStatus, type TargetReport } from "../core/status.ts";
import type { World } from "../core/world.ts";
import type { Clock } from "../runtime/clock.ts";
import { done, failed, type Outcome, waiting } from "../runtime/outcome.ts";

export interface ReportPorts {
  readonly mesh: (id: MeshId) => MeshRecord | undefined;
  readonly observe: () => World | undefined;
  readonly reports: ReadonlyMap<ConnectionId, TargetReport>;
  readonly clock: Clock;
  /** True while clusters are still being listed for the first time: what is unknown then is no news. */
  readonly isStarting: () => boolean;
  /** When the status of a mesh was last written, on the monotonic clock. */
  readonly writtenAtMs: Map<MeshId, number>;
  /** A merge patch; returns what was refused. */
  readonly patchStatus: (object: ClusterMeshObject, status: ClusterMeshStatus) => Promise<Error | undefined>;
  /** Where each row of a mesh's ledger leads. */
  readonly ledger: (id: MeshId) => readonly DrainRow[];
  /** Records that the Ready condition has turned. */
  readonly tell: (object: ClusterMeshObject, ready: Condition) => void;
}

const betweenWritesMs = 10_000;

/** One mesh → its status. Nothing is written while nothing changed, and at most one write in ten seconds. */
export async function reportMesh(id: MeshId, ports: ReportPorts): Promise<Outcome> {
  const record = ports.mesh(id);
  const now = record && statusNow(record, ports);
  if (!record || !now) return done;
  const before = record.object.status ?? {};
  const status = { ...renderStatus(now, before, ports.clock.date()), ...ledgerNow(record, ports) };
  if (isDeepStrictEqual(status, before)) return done;
  if (ports.isStarting() && record.state === "valid" && readyOf(status)?.status !== "True")
    return waiting("starting", 1000);
  const waitMs = (ports.writtenAtMs.get(id) ?? Number.NEGATIVE_INFINITY) + betweenWritesMs - ports.clock.now();
  if (waitMs > 0) return waiting("status written recently", waitMs);
  const failure = await ports.patchStatus(record.object, status);
  if (failure) return failed(failure);
  ports.writtenAtMs.set(id, ports.clock.now());
  const ready = readyOf(status);
  if (ready && readyOf(before)?.reason !== ready.reason) ports.tell(record.object, ready);
  return done;
}

/** Rows stay while the spec names them or their cluster may hold Peers. */
function ledgerNow(record: MeshRecord, ports: ReportPorts): Pick<ClusterMeshStatus, "ledger"> {
  const world = ports.observe();
  const mesh = record.state === "valid" ? record.mesh : undefined;
  const stays = (row: DrainRow): boolean =>
    !mesh || !world || isInSpec(mesh, row) || drainState(world, record.id, row) !== "empty";
  const rows = ports.ledger(record.id).filter(stays);
  return rows.length > 0 ? { ledger: renderLedger(rows) } : {};
}

function statusNow(record: MeshRecord, ports: ReportPorts): MeshStatus | undefined {
  if (record.state === "refused") return refusedStatus(record.object.metadata.generation ?? 0, record.problems);
  const world = ports.observe();
  const connected = world?.meshes.find(({ mesh }) => mesh.id === record.id);
  return world && connected && meshStatus({ world, connected, reports: ports.reports });
}

function renderStatus(now: MeshStatus, before: ClusterMeshStatus, at: Date): ClusterMeshStatus {
  const known = now.clusters.filter(({ state }) => state === "Known").length;
  const total = (field: "registeredPeers" | "skippedNodes"): number =>
    now.clusters.reduce((sum, cluster) => sum + cluster[field], 0);
  return {
    observedGeneration: now.observedGeneration,
    summary: {
      clusters: `${known}/${now.clusters.length}`,
      peers: total("registeredPeers"),
      skipped: total("skippedNodes"),
    },
    clusters: now.clusters,
    conditions: mergeConditions((before.conditions ?? []) as Condition[], now.conditions, secondsOf(at)),
  };
}

const secondsOf = (at: Date): string => at.toISOString().replace(/\.\d+Z$/, "Z");

function readyOf(status: ClusterMeshStatus): Condition | undefined {
  return status.conditions?.find(({ type }) => type === "Ready") as Condition | undefined;
}
