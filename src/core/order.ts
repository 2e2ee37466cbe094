import { type Cidr, networksIn } from "./cidr.ts";
import type { PeerChange } from "./diff.ts";
import { routesOf } from "./peer.ts";
import { rangesOf } from "./ranges.ts";

/**
 * What to write now. A route that moves is on two Peers for a moment, never on none: what releases a route waits until
 * the Peer that takes it over has been written. The rest waits for the plans that follow.
 */
export function nextPhase(changes: readonly PeerChange[]): readonly PeerChange[] {
  // No change gains what it releases: of two networks that overlap one contains the other.
  const gains = rangesOf(changes.flatMap(gainedBy));
  const marked = new Set(changes.flatMap((change) => ("peer" in change ? [change.peer.publicKey as string] : [])));
  const now = changes.filter((change) => {
    // Deleting one of two Peers with one key makes Kilo forget the key: the survivor is marked before, and touched after.
    if (change.action === "delete" && marked.has(change.held.publicKey)) return false;
    return !releasedBy(change).some((route) => gains.touches(route));
  });
  // Peers that exchange routes wait for each other: then all at once.
  return now.length > 0 ? now : changes;
}

function gainedBy(change: PeerChange): readonly Cidr[] {
  if (change.action === "create") return change.peer.routes;
  if (change.action !== "update") return [];
  const before = routesOf(change.held);
  return change.peer.routes.filter((route) => !before.covers(route));
}

function releasedBy(change: PeerChange): readonly Cidr[] {
  if (change.action === "create") return [];
  const held = networksIn(change.held.allowedIps);
  if (change.action === "delete") return held;
  const after = rangesOf(change.action === "shrink" ? networksIn(change.routes) : change.peer.routes);
  return held.filter((route) => !after.covers(route));
}
