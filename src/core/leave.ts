import { adoptPeers } from "./adopt.ts";
import type { ConnectionId } from "./ids.ts";
import { keepaliveChanges } from "./node-keepalive.ts";
import type { Note } from "./notes.ts";
import type { UnknownReason } from "./reasons.ts";
import { areTwoClusters, sharesNode } from "./same-cluster.ts";
import { leadsTo, type SourceId } from "./source.ts";
import type { World } from "./world.ts";

/** How long a cluster that no mesh asks for any more is kept open to be emptied. */
export const leavingLimitMs = 600_000;

/** With these the cluster refuses us: nothing can be taken away there. */
const refusals: ReadonlySet<UnknownReason> = new Set(["Unauthorized", "PeerCRDMissing"]);

/**
 * Whether a leaving connection has nothing left to do: its cluster holds nothing of ours, another connection speaks for
 * it, it does not let us in, or ten minutes are over. What is left then stays; any later connection finds it.
 */
export function mayClose(world: World, id: ConnectionId, leavingMs: number): boolean {
  if (leavingMs >= leavingLimitMs || partingOf(world, id) !== undefined) return true;
  const peers = world.clusters.get(id)?.peers;
  return peers?.state === "unknown" && refusals.has(peers.reason);
}

/** The connection that speaks for its cluster, or `empty` when that holds nothing of ours. */
export function partingOf(world: World, id: ConnectionId): ConnectionId | "empty" | undefined {
  const peers = world.clusters.get(id)?.peers;
  const speaker = world.twins.get(id) ?? heirOf(world, id);
  if (speaker || peers?.state !== "known") return speaker;
  const isOurs = adoptPeers(world, id, peers.items).some(({ instance }) => instance === world.instance);
  return isOurs || keepaliveChanges(world, id, 0).length > 0 ? undefined : "empty";
}

/** What a Secret leads to now that led here before, if that is the same cluster. */
function heirOf(world: World, id: ConnectionId): ConnectionId | undefined {
  return successions(world)
    .filter(({ old }) => old === id)
    .find(({ old, now }) => sharesNode(world, old, now))?.now;
}

/** Told while the cluster that an entry led to before is open beside another one that it leads to now. */
export function replacedNotes(world: World, target: ConnectionId): Note[] {
  return successions(world)
    .filter(({ old, now }) => now === target && world.leaving.has(old) && areTwoClusters(world, old, now))
    .map(({ mesh, source }): Note => ({ owners: [mesh], source, reason: "ClusterReplaced", subject: source }));
}

/** The entries that led to a cluster which is closed now, and may hold their Peers: nothing leads there any more. */
export function abandoned(world: World, id: ConnectionId): readonly SourceId[] {
  if (partingOf(world, id) !== undefined) return [];
  return successions(world).filter(({ old, now }) => old === id && areTwoClusters(world, old, now));
}

interface Succession extends SourceId {
  readonly old: ConnectionId;
  readonly now: ConnectionId;
}

/** Entries that lead elsewhere than before, while both connections are open. */
function successions({ meshes }: World): Succession[] {
  return meshes.flatMap((connected) =>
    [...(connected.before ?? [])].flatMap(([source, old]): Succession[] => {
      const now = leadsTo(connected, source);
      return now ? [{ mesh: connected.mesh.id, source, old, now }] : [];
    }),
  );
}
