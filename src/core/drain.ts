import type { MeshId } from "./ids.ts";
import type { LedgerRow } from "./ledger.ts";
import type { EntryConnection, World } from "./world.ts";

/** How far a cluster of the ledger is from being empty of a mesh's Peers. */
export type DrainState = "empty" | "holds" | "unreachable" | "lost";

export interface DrainRow extends LedgerRow {
  readonly connection: EntryConnection;
}

/**
 * `lost` is a cluster that nobody can reach any more because its Secret or the key in it is gone: teardown deletes the
 * Secret first, and must not wait for it. A cluster without Kilo's Peer type holds no Peers.
 */
export function drainState(world: World, mesh: MeshId, { connection }: DrainRow): DrainState {
  if (connection.state === "unknown") {
    const isGone = connection.reason === "SecretMissing" || connection.reason === "SecretKeyMissing";
    return isGone ? "lost" : "unreachable";
  }
  const peers = world.clusters.get(world.twins.get(connection.id) ?? connection.id)?.peers;
  if (peers?.state === "unknown" && peers.reason === "PeerCRDMissing") return "empty";
  if (peers?.state !== "known") return "unreachable";
  const isHeld = peers.items.some(({ instance, owners }) => instance === world.instance && owners.includes(mesh));
  return isHeld ? "holds" : "empty";
}
