import type { PeerChange } from "./diff.ts";

/**
 * What to write now: what adds routes, else what takes routes away, else what goes. The rest is for the plans that
 * follow, when these writes are done: a route that moves is on two Peers for a moment, never on none.
 */
export function nextPhase(changes: readonly PeerChange[]): readonly PeerChange[] {
  const phases = [changes.filter(adds), changes.filter(shrinks), changes];
  return phases.find((phase) => phase.length > 0) ?? [];
}

const adds = (change: PeerChange): boolean => change.action !== "delete" && !shrinks(change);

function shrinks(change: PeerChange): boolean {
  if (change.action !== "update") return false;
  const after = new Set(change.peer.routes.map(({ text }) => text));
  return change.held.allowedIps.some((text) => !after.has(text));
}
