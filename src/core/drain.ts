import type { ConnectionId, MeshId } from "./ids.ts";
import type { LedgerRow } from "./ledger.ts";
import { isIn } from "./source.ts";
import type { EntryConnection, World } from "./world.ts";

/** How far a cluster of the ledger is from being empty of a mesh's Peers. */
export type DrainState = "empty" | "holds" | "unreachable" | "lost" | "parting";

export interface DrainRow extends LedgerRow {
  readonly connection: EntryConnection;
  /** Where its Secret led when it was last there, while anything is known of that. */
  readonly last?: ConnectionId | "empty";
}

/**
 * `lost` is a cluster that nobody can reach any more because its Secret or the key in it is gone: teardown deletes the
 * Secret first, and must not wait for it. `parting` is one whose last connection is still open and is being emptied. A
 * cluster without Kilo's Peer type holds no Peers.
 */
export function drainState(world: World, mesh: MeshId, { connection, last }: DrainRow): DrainState {
  if (connection.state === "connected") return stateBehind(world, mesh, connection.id);
  const isGone = connection.reason === "SecretMissing" || connection.reason === "SecretKeyMissing";
  if (!isGone) return "unreachable";
  if (last === undefined) return "lost";
  if (last === "empty") return "empty";
  const state = stateBehind(world, mesh, last);
  return state === "holds" ? "parting" : state === "empty" ? "empty" : "lost";
}

function stateBehind(world: World, mesh: MeshId, id: ConnectionId): "empty" | "holds" | "unreachable" {
  const peers = world.clusters.get(world.twins.get(id) ?? id)?.peers;
  if (peers?.state === "unknown" && peers.reason === "PeerCRDMissing") return "empty";
  if (peers?.state !== "known") return "unreachable";
  const isHeld = peers.items.some(({ instance, owners }) => instance === world.instance && owners.includes(mesh));
  return isHeld ? "holds" : "empty";
}

/** True when an entry of the mesh leads to the cluster of a row that is not in its spec: another Secret, or another name. */
export function isServed({ meshes, twins }: World, id: MeshId, { connection }: DrainRow): boolean {
  const connected = meshes.find(({ mesh }) => mesh.id === id);
  if (!connected || connection.state !== "connected") return false;
  return isIn(connected, twins.get(connection.id) ?? connection.id);
}
