import type { PeerChange } from "./diff.ts";
import { keptMark } from "./move.ts";
import type { KnownPlan } from "./plan.ts";
import type { World } from "./world.ts";

/**
 * What may be written into a target now. One that is leaving, or whose nodes are unknown, only loses Peers that are neither
 * wanted nor kept, and gives back the keepalive that a move took from one: while its nodes are unknown, nothing says what a
 * route may cover there, where its nodes have met others, or whether another connection speaks for it.
 */
export function permitted(world: World, plan: KnownPlan, changes: readonly PeerChange[]): readonly PeerChange[] {
  const { target, peers, kept } = plan;
  if (!world.leaving.has(target) && world.clusters.get(target)?.nodes.state === "known") return changes;
  const stays = new Set<string>([...peers, ...kept.map(({ held }) => held)].map(({ publicKey }) => publicKey));
  return changes.filter((change) => {
    if (change.action === "shrink") return keptMark(change.held.move) !== undefined;
    return change.action === "delete" && !stays.has(change.held.publicKey);
  });
}
