import type { ConditionNow } from "./conditions.ts";
import type { ClusterName, ConnectionId, MeshId, PeerName } from "./ids.ts";
import type { MeshEntry, MeshProblem } from "./mesh.ts";
import type { NodeFacts, SkippedNode } from "./node.ts";
import { overlapsAcross } from "./overlap.ts";
import type { Plan, SourcePlan } from "./plan.ts";
import { readiness, type Verdict, verdict, withdrawalVerdict } from "./readiness.ts";
import { type SkipReason, type UnknownReason, unknownReasons } from "./reasons.ts";
import { type ConnectedMesh, nodesBehind, type World } from "./world.ts";

/** What the last run of a target came to. */
export interface TargetReport {
  /** What the plan was made from: a report of an earlier spec says nothing of the present one. */
  readonly spec: World["spec"];
  readonly plan: Plan;
  readonly refusals: readonly Refusal[];
  /** Changes that wait for the next phase. */
  readonly pending: number;
}

/** A write that did not happen, in our words, and the meshes it matters to. */
export interface Refusal {
  readonly peer: PeerName;
  readonly owners: readonly MeshId[];
  readonly text: string;
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
  const overlaps = overlapsAcross(input.world.meshes, mesh.id);
  return statusOf(mesh.generation, clusters, {
    Accepted: verdict("True", "Valid", []),
    Ready: readiness(input, clusters),
    NetworksOverlap: overlaps.length > 0 ? verdict("True", "CIDROverlap", overlaps) : noOverlap,
    WithdrawalHeld: withdrawalVerdict(input),
  });
}

const noOverlap = verdict("False", "NoOverlap", ["all CIDRs are disjoint"]);

/** A mesh that cannot be used as it is: every problem named at once. Its Peers stay as they are. */
export function refusedStatus(generation: number, problems: readonly MeshProblem[]): MeshStatus {
  const texts = problems.map(({ field, message }) => `${field}: ${message}`);
  const overlaps = problems.filter(({ kind }) => kind === "overlap").map(({ message }) => message);
  const refused = verdict("False", "Invalid", texts);
  return statusOf(generation, [], {
    Accepted: refused,
    Ready: refused,
    NetworksOverlap: overlaps.length > 0 ? verdict("True", "CIDROverlap", overlaps) : noOverlap,
  });
}

function statusOf(
  observedGeneration: number,
  clusters: readonly ClusterStatus[],
  verdicts: Readonly<Record<string, Verdict>>,
): MeshStatus {
  const conditions = Object.entries(verdicts).map(([type, said]) => ({ type, observedGeneration, ...said }));
  return { observedGeneration, clusters, conditions };
}

function clusterStatus({ world, connected, reports }: MeshStatusInput, entry: MeshEntry): ClusterStatus {
  const connection = connected.connections.get(entry.name);
  const observed = nodesBehind(world, connection);
  const targets = otherTargets(connected, entry.name);
  const skipped = targets.map((id) => sourcePlan(reports.get(id), connected, entry)).find(Boolean)?.skipped ?? [];
  const nodes = observed.state === "known" ? observed.items : [];
  const admitted = nodes.filter(({ name }) => !skipped.some((other) => other.name === name));
  const counts = {
    nodes: nodes.length,
    registeredPeers: registeredIn(world, targets, { connected, nodes: admitted }),
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

/** Two entries may lead to one cluster, which is no target of itself. */
function otherTargets({ connections }: ConnectedMesh, source: ClusterName): ConnectionId[] {
  const idOf = (name: ClusterName): ConnectionId | undefined => {
    const connection = connections.get(name);
    return connection?.state === "connected" ? connection.id : undefined;
  };
  return [...connections.keys()].flatMap((name) => idOf(name) ?? []).filter((id) => id !== idOf(source));
}

interface Registered {
  readonly connected: ConnectedMesh;
  readonly nodes: readonly NodeFacts[];
}

/** How many of the nodes have a Peer of this mesh in every target that we know. */
function registeredIn(world: World, targets: readonly ConnectionId[], { connected, nodes }: Registered): number {
  const keysIn = targets.flatMap((target) => {
    const peers = world.clusters.get(target)?.peers;
    if (peers?.state !== "known") return [];
    const ours = peers.items.filter(({ owners }) => owners.includes(connected.mesh.id));
    return [new Set(ours.map(({ publicKey }) => publicKey))];
  });
  return keysIn.length === 0 ? 0 : nodes.filter(({ key }) => keysIn.every((keys) => keys.has(key))).length;
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

function skippedRows(skipped: readonly SkippedNode[]): SkippedStatus[] {
  const reasons = [...new Set(skipped.map(({ reason }) => reason))].sort();
  return reasons.map((reason) => {
    const names = skipped.filter((node) => node.reason === reason).map(({ name }) => name);
    return { reason, count: names.length, examples: names.slice(0, mostExamples) };
  });
}
