import type { PeerChange } from "./diff.ts";
import type { KnownPlan } from "./plan.ts";
import type { World } from "./world.ts";

/**
 * What may be written into a target now. One that is leaving, or whose nodes are unknown, only loses Peers whose key nobody
 * wants: while its nodes are unknown, nothing says what a route may cover there, where its nodes have met others, or whether
 * another connection speaks for it.
 */
export function permitted(world: World, plan: KnownPlan, changes: readonly PeerChange[]): readonly PeerChange[] {
  const { target, peers } = plan;
  if (!world.leaving.has(target) && world.clusters.get(target)?.nodes.state === "known") return changes;
  const wanted = new Set<string>(peers.map(({ publicKey }) => publicKey));
  return changes.filter((change) => change.action === "delete" && !wanted.has(change.held.publicKey));
}
