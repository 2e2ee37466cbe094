import {
  claimsHeld,
  withdrawalsHeld as held,
  listed,
  type MeshFacts,
  refused,
  type Target,
  unserved,
} from "./mesh-facts.ts";
import { type ConditionReason, conditionReasons, unknownReasons } from "./reasons.ts";
import type { ClusterStatus } from "./status.ts";
import { type Verdict, verdict, withHint } from "./verdict.ts";

type Obstacle = readonly [reason: ConditionReason, find: (facts: MeshFacts) => readonly string[]];

/** What stands between a mesh and Ready, the most telling first; each names what it found. */
const obstacles: readonly Obstacle[] = [
  [
    "ClustersUnknown",
    ({ clusters }) =>
      clusters.filter(({ state }) => state === "Unknown").map(({ name, reason }) => `${name}: ${reason}`),
  ],
  ["Contested", (facts) => refused(facts, ({ reason }) => reason === "Contested")],
  ["WritesFailed", (facts) => refused(facts, ({ reason }) => reason !== "Contested")],
  ["Syncing", (facts) => facts.targets.filter((target) => !isDone(target, facts)).map(({ name }) => name)],
  ["NodesSkipped", (facts) => unserved(facts).map(({ name, nodes }) => `${name}: all ${nodes} nodes`)],
  ["KeyTaken", (facts) => [...listed(facts, "taken"), ...listed(facts, "rivalled")]],
  ["EndpointUnresolved", (facts) => listed(facts, "unresolved")],
  ["ClaimHeld", claimsHeld],
  ["WithdrawalHeld", held],
];

/** Ready means: every cluster known and served, every target synced, every write done, nothing held back. */
export function readiness(facts: MeshFacts): Verdict {
  for (const [reason, find] of obstacles) {
    const found = find(facts);
    if (found.length > 0) return withHint(verdict("False", reason, found), hintOf(reason, facts.clusters));
  }
  const { clusters } = facts;
  const peers = clusters.reduce((sum, cluster) => sum + cluster.registeredPeers, 0);
  return verdict("True", "Synced", [`${clusters.length} clusters, ${peers} nodes peered`]);
}

/** What to do next; of several clusters that are unknown, about the first. */
export function hintOf(reason: ConditionReason, clusters: readonly ClusterStatus[]): string {
  const lost = reason === "ClustersUnknown" ? clusters.find((cluster) => cluster.reason) : undefined;
  if (!lost?.reason) return conditionReasons[reason].hint;
  const { waits, hint } = unknownReasons[lost.reason];
  // How exactly a cluster does not answer differs from try to try.
  return waits ? hint : (lost.message ?? hint);
}

/** Peers that seem to be nobody's stay until that is proven. */
export function withdrawalVerdict(facts: MeshFacts): Verdict {
  const found = held(facts);
  if (found.length === 0) return verdict("False", "NothingHeld", []);
  return withHint(verdict("True", "WithdrawalHeld", found), conditionReasons.WithdrawalHeld.hint);
}

function isDone({ report }: Target, { input }: MeshFacts): boolean {
  return report?.spec === input.world.spec && report.plan.state === "known" && report.pending === 0;
}
