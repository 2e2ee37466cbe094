import type { ConditionNow } from "./conditions.ts";
import type { ClusterName, MeshId } from "./ids.ts";
import type { KnownPlan } from "./plan.ts";
import type { ClusterStatus, MeshStatusInput, Refusal, TargetReport } from "./status.ts";

export type Verdict = Pick<ConditionNow, "status" | "reason" | "message">;

interface Target {
  readonly name: ClusterName;
  readonly report: TargetReport | undefined;
}

interface Facts {
  readonly input: MeshStatusInput;
  readonly clusters: readonly ClusterStatus[];
  readonly targets: readonly Target[];
}

/** What stands between a mesh and Ready, the most telling first; each names what it found. */
const obstacles: Readonly<Record<string, (facts: Facts) => readonly string[]>> = {
  ClustersUnknown: ({ clusters }) =>
    clusters.filter(({ state }) => state === "Unknown").map(({ name, reason }) => `${name}: ${reason}`),
  WritesFailed: ({ input, targets }) => inEach(targets, ({ refusals }) => refusedOf(refusals, input.connected.mesh.id)),
  Syncing: ({ input, targets }) => targets.filter(({ report }) => !isDone(report, input)).map(({ name }) => name),
  KeyTaken: ({ input, targets }) =>
    inEach(targets, ({ plan }) => [
      ...ofMesh(plan, "taken", input.connected.mesh.id),
      ...ofMesh(plan, "rivalled", input.connected.mesh.id),
    ]),
  EndpointUnresolved: ({ input, targets }) =>
    inEach(targets, ({ plan }) => ofMesh(plan, "unresolved", input.connected.mesh.id)),
  ClaimHeld: ({ input, targets }) => inEach(targets, ({ plan }) => claimsHeld(plan, input.connected.mesh.id)),
  WithdrawalHeld: ({ input, targets }) => inEach(targets, ({ plan }) => withdrawalsHeld(plan, input.connected.mesh.id)),
};

/** Ready means: every cluster known, every target synced, every write done, nothing held back. */
export function readiness(input: MeshStatusInput, clusters: readonly ClusterStatus[]): Verdict {
  const facts = { input, clusters, targets: targetsOf(input) };
  for (const [reason, find] of Object.entries(obstacles)) {
    const found = find(facts);
    if (found.length > 0) return verdict("False", reason, found);
  }
  const peers = clusters.reduce((sum, cluster) => sum + cluster.registeredPeers, 0);
  return { status: "True", reason: "Synced", message: `${clusters.length} clusters, ${peers} nodes peered` };
}

/** Peers that seem to be nobody's stay until that is proven. */
export function withdrawalVerdict(input: MeshStatusInput): Verdict {
  const held = inEach(targetsOf(input), ({ plan }) => withdrawalsHeld(plan, input.connected.mesh.id));
  return held.length > 0 ? verdict("True", "WithdrawalHeld", held) : verdict("False", "NothingHeld", []);
}

const mostExamples = 5;
const longestMessage = 4096;

export function verdict(status: Verdict["status"], reason: string, details: readonly string[]): Verdict {
  const shown = details.slice(0, mostExamples).join("; ");
  const more = details.length > mostExamples ? `; and ${details.length - mostExamples} more` : "";
  return { status, reason, message: (shown + more).slice(0, longestMessage) };
}

function targetsOf({ connected, reports }: MeshStatusInput): Target[] {
  return [...connected.connections].flatMap(([name, connection]) =>
    connection.state === "connected" ? [{ name, report: reports.get(connection.id) }] : [],
  );
}

function inEach(targets: readonly Target[], find: (report: TargetReport) => readonly string[]): string[] {
  return targets.flatMap(({ name, report }) => (report ? find(report).map((text) => `${name}: ${text}`) : []));
}

function isDone(report: TargetReport | undefined, { world }: MeshStatusInput): boolean {
  return report?.spec === world.spec && report.plan.state === "known" && report.pending === 0;
}

function ofMesh(plan: TargetReport["plan"], list: "taken" | "rivalled" | "unresolved", mesh: MeshId): string[] {
  return plan.state === "known" ? plan[list].filter(({ owners }) => owners.includes(mesh)).map(({ name }) => name) : [];
}

/** Only what concerns this mesh: a target is shared, its Peers are not. */
function refusedOf(refusals: readonly Refusal[], mesh: MeshId): string[] {
  return refusals.filter(({ owners }) => owners.includes(mesh)).map(({ text }) => text);
}

/** Routes that nodes of this mesh want and somebody else has. */
function claimsHeld(plan: TargetReport["plan"], mesh: MeshId): string[] {
  if (plan.state !== "known") return [];
  const nodes = nodesByKey(plan, mesh);
  return plan.refused.flatMap(({ claim }) => {
    const node = nodes.get(claim.peer);
    return node ? [`${claim.route.text} of ${node}`] : [];
  });
}

function nodesByKey({ peers }: KnownPlan, mesh: MeshId): Map<string, string> {
  return new Map(peers.filter(({ owners }) => owners.includes(mesh)).map(({ publicKey, node }) => [publicKey, node]));
}

function withdrawalsHeld(plan: TargetReport["plan"], mesh: MeshId): string[] {
  if (plan.state !== "known") return [];
  return plan.kept
    .filter(({ held, reason }) => reason === "WithdrawalHeld" && held.owners.includes(mesh))
    .map(({ held }) => held.name);
}
