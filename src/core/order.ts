import type { PeerChange } from "./diff.ts";

/**
 * The changes of one target in phases: what adds routes, then what takes routes away, then what goes.
 * A route that moves is on two Peers for a moment, never on none.
 */
export function orderChanges(changes: readonly PeerChange[]): PeerChange[][] {
  const phases = [changes.filter(adds), changes.filter(shrinks), changes.filter(({ action }) => action === "delete")];
  return phases.filter((phase) => phase.length > 0);
}

const adds = (change: PeerChange): boolean => change.action !== "delete" && !shrinks(change);

function shrinks(change: PeerChange): boolean {
  if (change.action !== "update") return false;
  const after = new Set(change.peer.routes.map(({ text }) => text));
  return change.held.allowedIps.some((text) => !after.has(text));
}
