import type { ClusterName, ConnectionId } from "./ids.ts";
import { keepaliveChanges } from "./node-keepalive.ts";
import type { Note } from "./notes.ts";
import type { UnknownReason } from "./reasons.ts";
import type { EntryConnection, World } from "./world.ts";

/** How long a cluster that no mesh asks for any more is kept open to be emptied. */
export const leavingLimitMs = 600_000;

/** With these the cluster refuses us: nothing can be taken away there. */
const refusals: ReadonlySet<UnknownReason> = new Set(["Unauthorized", "Forbidden", "PeerCRDMissing"]);

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
  const speaker = world.twins.get(id);
  if (speaker || peers?.state !== "known") return speaker;
  const isOurs = peers.items.some(({ instance }) => instance === world.instance);
  return isOurs || keepaliveChanges(world, id, 0).length > 0 ? undefined : "empty";
}

/** Told while the cluster that an entry led to before is open beside the one that it leads to now. */
export function replacedNotes(world: World, target: ConnectionId): Note[] {
  return world.meshes.flatMap(({ mesh, connections, before = new Map<ClusterName, ConnectionId>() }) =>
    [...before]
      .filter(
        ([name, old]) => leadsTo(connections.get(name), target) && world.leaving.has(old) && !world.twins.has(old),
      )
      .map(([source]): Note => ({ owners: [mesh.id], source, reason: "ClusterReplaced", subject: source })),
  );
}

const leadsTo = (connection: EntryConnection | undefined, id: ConnectionId): boolean =>
  connection?.state === "connected" && connection.id === id;
