import { type ClusterStatus, clusterStatuses } from "./cluster-status.ts";
import type { ConditionNow } from "./conditions.ts";
import { credentialEnd, nextChangeMs } from "./credentials.ts";
import { degradation } from "./degraded.ts";
import type { DrainRow } from "./drain.ts";
import type { ConnectionId, MeshId, PeerName } from "./ids.ts";
import type { MeshProblem } from "./mesh.ts";
import { meshFacts } from "./mesh-facts.ts";
import { overlapsAcross } from "./overlap.ts";
import type { Plan } from "./plan.ts";
import { readiness, withdrawalVerdict } from "./readiness.ts";
import { conditionReasons } from "./reasons.ts";
import { sourceText } from "./source.ts";
import { type Verdict, verdict, withHint } from "./verdict.ts";
import type { ConnectedMesh, World } from "./world.ts";

export type { ClusterStatus } from "./cluster-status.ts";

/** What the last run of a target came to. */
export interface TargetReport {
  /** What the plan was made from: a report of an earlier spec says nothing of the present one. */
  readonly spec: World["spec"];
  readonly plan: Plan;
  readonly refusals: readonly Refusal[];
  /** Changes that wait for the next phase. */
  readonly pending: number;
}

/**
 * True when a source gives its first nodes to a target: until these Peers are written, what was said of the target before
 * is no longer true. Of single changes nobody has to hear before they are done.
 */
export function hasNewSource(plan: Plan, before: Plan | undefined): boolean {
  const giving = (one: Plan | undefined): Set<string> =>
    new Set((one?.state === "known" ? one.sources : []).filter(({ nodes }) => nodes > 0).map(sourceText));
  const known = giving(before);
  return [...giving(plan)].some((source) => !known.has(source));
}

/** A write that did not happen, in our words, and the meshes it matters to. */
export interface Refusal {
  readonly peer: PeerName;
  readonly owners: readonly MeshId[];
  readonly text: string;
  /** Not tried, because somebody else keeps undoing it. */
  readonly reason?: "Contested";
  /** The cluster has answered with no, or not at all; what only has to be planned anew is not this. */
  readonly isDenied?: true;
}

/** Of a mesh that cannot be used, or is being deleted: what its clusters hold is not looked at, so nothing is said of them. */
export interface RefusedStatus {
  readonly observedGeneration: number;
  readonly conditions: readonly ConditionNow[];
}

export interface MeshStatus extends RefusedStatus {
  readonly clusters: readonly ClusterStatus[];
  /** In how long time alone will change this; absent when it will not. */
  readonly changesInMs?: number;
}

export interface MeshStatusInput {
  readonly world: World;
  readonly connected: ConnectedMesh;
  readonly reports: ReadonlyMap<ConnectionId, TargetReport>;
  /** Where each row of the mesh's ledger leads. */
  readonly ledger: readonly DrainRow[];
  /** What a person may run in each cluster whose nodes we may not annotate. */
  readonly nodeCommands?: ReadonlyMap<ConnectionId, string>;
  /** The wall clock, in milliseconds since 1970: credentials end. */
  readonly nowMs: number;
}

/** The truth about one accepted mesh, from facts alone. */
export function meshStatus(input: MeshStatusInput): MeshStatus {
  const { world, connected, nowMs } = input;
  const { mesh } = connected;
  const clusters = clusterStatuses(input);
  const facts = meshFacts(input, clusters);
  const overlaps = overlapsAcross(world.meshes, mesh.id);
  const said = saidOf(mesh.generation, {
    Accepted: verdict("True", "Valid", []),
    Ready: readiness(facts),
    Degraded: degradation(facts),
    NetworksOverlap: overlaps.length > 0 ? verdict("True", "CIDROverlap", overlaps) : noOverlap,
    WithdrawalHeld: withdrawalVerdict(facts),
  });
  const ends = mesh.entries.flatMap(({ name }) => credentialEnd(world, connected, name) ?? []);
  const changesInMs = nextChangeMs(ends, nowMs);
  return { ...said, clusters, ...(changesInMs !== undefined && { changesInMs }) };
}

const noOverlap = verdict("False", "NoOverlap", ["all CIDRs are disjoint"]);

/**
 * A mesh that cannot be used as it is: every problem named at once. Its Peers stay as they are. Every condition is said
 * anew: one that was left out would go on saying what it said of an earlier spec.
 */
export function refusedStatus(generation: number, problems: readonly MeshProblem[]): RefusedStatus {
  const texts = problems.map(({ field, message }) => `${field}: ${message}`);
  const overlaps = problems.filter(({ kind }) => kind === "overlap").map(({ message }) => message);
  return saidOf(generation, {
    Accepted: verdict("False", "Invalid", texts),
    Ready: verdict("False", "Invalid", texts),
    Degraded: verdict("True", "Invalid", texts),
    NetworksOverlap: overlaps.length > 0 ? verdict("True", "CIDROverlap", overlaps) : noOverlap,
    WithdrawalHeld: verdict("Unknown", "Invalid", ["its Peers stay as they are"]),
  });
}

/** A mesh whose deletion waits for these clusters. What else was said of it is history. */
export function deletionStatus(generation: number, held: readonly string[]): RefusedStatus {
  const { hint } = conditionReasons.DeletionHeld;
  const said = (status: Verdict["status"]): Verdict => withHint(verdict(status, "DeletionHeld", held), hint);
  return saidOf(generation, { Ready: said("False"), Degraded: said("True") });
}

function saidOf(observedGeneration: number, verdicts: Readonly<Record<string, Verdict>>): RefusedStatus {
  const conditions = Object.entries(verdicts).map(([type, said]) => ({ type, observedGeneration, ...said }));
  return { observedGeneration, conditions };
}
