import type { ConditionNow } from "./conditions.ts";
import type { ClusterName, ConnectionId, MeshId } from "./ids.ts";
import type { MeshEntry, MeshProblem } from "./mesh.ts";
import type { SkippedNode } from "./node.ts";
import type { Plan, SourcePlan } from "./plan.ts";
import { type SkipReason, type UnknownReason, unknownReasons } from "./reasons.ts";
import { type ConnectedMesh, nodesBehind, type World } from "./world.ts";

/** What the last run of a target came to. */
export interface TargetReport {
  /** What the plan was made from: a report of an earlier spec says nothing of the present one. */
  readonly spec: World["spec"];
  readonly plan: Plan;
  /** In our words, one per write that was refused. */
  readonly failures: readonly string[];
  /** Changes that wait for the next phase. */
  readonly pending: number;
}

export interface ClusterStatus {
  readonly name: ClusterName;
  readonly state: "Known" | "Unknown";
  readonly reason?: UnknownReason;
  readonly message?: string;
  readonly nodes: number;
  /** Nodes of this cluster whose Peer exists in every other cluster we know of. */
  readonly registeredPeers: number;
  readonly skippedNodes: number;
  readonly skipped?: readonly SkippedStatus[];
}

export interface SkippedStatus {
  readonly reason: SkipReason;
  readonly count: number;
  readonly examples: readonly string[];
}

export interface MeshStatus {
  readonly observedGeneration: number;
  readonly clusters: readonly ClusterStatus[];
  readonly conditions: readonly ConditionNow[];
}

export interface MeshStatusInput {
  readonly world: World;
  readonly connected: ConnectedMesh;
  readonly reports: ReadonlyMap<ConnectionId, TargetReport>;
}

/** The truth about one accepted mesh, from facts alone. */
export function meshStatus(input: MeshStatusInput): MeshStatus {
  const { mesh } = input.connected;
  const clusters = mesh.entries.map((entry) => clusterStatus(input, entry));
  const accepted = condition(mesh.generation, "Accepted", { status: "True", reason: "Valid", message: "" });
  const ready = condition(mesh.generation, "Ready", readiness(input, clusters));
  return { observedGeneration: mesh.generation, clusters, conditions: [accepted, ready] };
}

/** A mesh that cannot be used as it is: every problem named at once. Its Peers stay as they are. */
export function refusedStatus(generation: number, problems: readonly MeshProblem[]): MeshStatus {
  const texts = problems.map(({ field, message }) => `${field}: ${message}`);
  const verdict = notReady("Invalid", texts);
  return {
    observedGeneration: generation,
    clusters: [],
    conditions: [condition(generation, "Accepted", verdict), condition(generation, "Ready", verdict)],
  };
}

type Verdict = Pick<ConditionNow, "status" | "reason" | "message">;

function condition(observedGeneration: number, type: string, verdict: Verdict): ConditionNow {
  return { type, observedGeneration, ...verdict };
}

function clusterStatus({ world, connected, reports }: MeshStatusInput, entry: MeshEntry): ClusterStatus {
  const connection = connected.connections.get(entry.name);
  const observed = nodesBehind(world, connection);
  const targets = otherTargets(connected, entry.name);
  const registered = targets.flatMap((id) => registeredIn(world, id, { connected, entry }) ?? []);
  const skipped = targets.map((id) => sourcePlan(reports.get(id), connected, entry)).find(Boolean)?.skipped ?? [];
  const counts = {
    nodes: observed.state === "known" ? observed.items.length : 0,
    registeredPeers: registered.length > 0 ? Math.min(...registered) : 0,
    skippedNodes: skipped.length,
  };
  const lost = observed.state === "unknown" ? observed : peersUnknown(world, connection);
  if (lost) return { name: entry.name, state: "Unknown", reason: lost.reason, message: messageOf(lost), ...counts };
  const rows = skipped.length > 0 ? { skipped: skippedRows(skipped) } : {};
  return { name: entry.name, state: "Known", ...counts, ...rows };
}

interface Lost {
  readonly reason: UnknownReason;
  readonly detail?: string;
}

function peersUnknown(world: World, connection: ReturnType<ConnectedMesh["connections"]["get"]>): Lost | undefined {
  if (connection?.state !== "connected") return undefined;
  const peers = world.clusters.get(connection.id)?.peers;
  return peers?.state === "unknown" ? peers : undefined;
}

const messageOf = ({ reason, detail }: Lost): string =>
  [detail, unknownReasons[reason].hint].filter(Boolean).join(". ");

function otherTargets({ connections }: ConnectedMesh, source: ClusterName): ConnectionId[] {
  return [...connections].flatMap(([name, connection]) =>
    name !== source && connection.state === "connected" ? [connection.id] : [],
  );
}

function registeredIn(
  world: World,
  target: ConnectionId,
  { connected, entry }: { connected: ConnectedMesh; entry: MeshEntry },
): number | undefined {
  const peers = world.clusters.get(target)?.peers;
  if (peers?.state !== "known") return undefined;
  const isOfSource = (held: (typeof peers.items)[number]): boolean =>
    held.instance === world.instance && held.source === entry.name && held.owners.includes(connected.mesh.id);
  return peers.items.filter(isOfSource).length;
}

function sourcePlan(
  report: TargetReport | undefined,
  { mesh }: ConnectedMesh,
  entry: MeshEntry,
): SourcePlan | undefined {
  if (report?.plan.state !== "known") return undefined;
  return report.plan.sources.find((source) => source.mesh === mesh.id && source.source === entry.name);
}

const mostExamples = 5;
const longestMessage = 4096;

function skippedRows(skipped: readonly SkippedNode[]): SkippedStatus[] {
  const reasons = [...new Set(skipped.map(({ reason }) => reason))].sort();
  return reasons.map((reason) => {
    const names = skipped.filter((node) => node.reason === reason).map(({ name }) => name);
    return { reason, count: names.length, examples: names.slice(0, mostExamples) };
  });
}

/** Ready means: every cluster known, every target synced, every write done, nothing held back. */
function readiness({ world, connected, reports }: MeshStatusInput, clusters: readonly ClusterStatus[]): Verdict {
  const unknown = clusters.filter(({ state }) => state === "Unknown");
  if (unknown.length > 0)
    return notReady(
      "ClustersUnknown",
      unknown.map(({ name, reason }) => `${name}: ${reason}`),
    );
  const targets = [...connected.connections].flatMap(([name, connection]) =>
    connection.state === "connected" ? [{ name, report: reports.get(connection.id) }] : [],
  );
  const { mesh } = connected;
  const failed = targets.flatMap(({ name, report }) => (report?.failures ?? []).map((text) => `${name}: ${text}`));
  if (failed.length > 0) return notReady("WritesFailed", failed);
  const isDone = (report: TargetReport | undefined): boolean =>
    report?.spec === world.spec && report.plan.state === "known" && report.pending === 0;
  const waiting = targets.filter(({ report }) => !isDone(report));
  if (waiting.length > 0)
    return notReady(
      "Syncing",
      waiting.map(({ name }) => name),
    );
  const taken = targets.flatMap(({ name, report }) => takenIn(report).map((peer) => `${name}: ${peer}`));
  if (taken.length > 0) return notReady("KeyTaken", taken);
  const claims = targets.flatMap(({ name, report }) => heldClaims(report, mesh.id).map((text) => `${name}: ${text}`));
  if (claims.length > 0) return notReady("ClaimHeld", claims);
  const kept = targets.flatMap(({ name, report }) =>
    withdrawalsHeld(report, mesh.id).map((text) => `${name}: ${text}`),
  );
  if (kept.length > 0) return notReady("WithdrawalHeld", kept);
  const peers = clusters.reduce((sum, cluster) => sum + cluster.registeredPeers, 0);
  return { status: "True", reason: "Synced", message: `${clusters.length} clusters, ${peers} nodes peered` };
}

/** Routes that nodes of this mesh want and somebody else has. */
function heldClaims(report: TargetReport | undefined, mesh: MeshId): string[] {
  if (report?.plan.state !== "known") return [];
  const own = new Map(
    report.plan.peers.filter(({ owners }) => owners.includes(mesh)).map((peer) => [peer.publicKey as string, peer]),
  );
  return report.plan.refused.flatMap(({ claim }) => {
    const peer = own.get(claim.peer);
    return peer ? [`${claim.route.text} of ${peer.node}`] : [];
  });
}

/** Peers of this mesh that seem to be nobody's, while the proof is incomplete. */
function withdrawalsHeld(report: TargetReport | undefined, mesh: MeshId): string[] {
  if (report?.plan.state !== "known") return [];
  return report.plan.kept
    .filter(({ held, reason }) => reason === "WithdrawalHeld" && held.owners.includes(mesh))
    .map(({ held }) => held.name);
}

function takenIn(report: TargetReport | undefined): string[] {
  return report?.plan.state === "known" ? report.plan.taken.map(({ name }) => name) : [];
}

function notReady(reason: string, details: readonly string[]): Verdict {
  const shown = details.slice(0, mostExamples).join("; ");
  const more = details.length > mostExamples ? `; and ${details.length - mostExamples} more` : "";
  return { status: "False", reason, message: (shown + more).slice(0, longestMessage) };
}
