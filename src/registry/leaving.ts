import type { ClusterView } from "../core/world.ts";

/**
 * A connection that nobody names any more may be a cluster that left, or the old credentials of one that stayed.
 * A shared Node UID tells: draining through old credentials would empty a living cluster. Until all are known, wait.
 */
export function fateOf(leaving: ClusterView, others: readonly ClusterView[]): "drain" | "wait" | "close" {
  if (leaving.nodes.state === "unknown") return "wait";
  const uids = new Set(leaving.nodes.items.map(({ uid }) => uid));
  if (others.some(({ nodes }) => nodes.state === "known" && nodes.items.some(({ uid }) => uids.has(uid))))
    return "close";
  return others.every(({ nodes }) => nodes.state === "known") ? "drain" : "wait";
}
