import { adoptPeers } from "./adopt.ts";
import type { ConnectionId, MeshId } from "./ids.ts";
import type { LedgerRow } from "./ledger.ts";
import { oncePer } from "./once-per.ts";
import type { HeldPeer } from "./peer.ts";
import { reachesElsewhere } from "./same-cluster.ts";
import { isIn } from "./source.ts";
import type { EntryConnection, World } from "./world.ts";

/** How far a cluster of the ledger is from being empty of a mesh's Peers. */
export type DrainState = "empty" | "shared" | "holds" | "unreachable" | "lost" | "parting";

export interface DrainRow extends LedgerRow {
  readonly connection: EntryConnection;
  /** Where its Secret led when it was last there, while anything is known of that. */
  readonly last?: ConnectionId | "empty";
  /** Where its Secret led before it changed, if we have seen that; `closed` once that is behind us. */
  readonly before?: ConnectionId | "closed";
}

/**
 * `lost` is a cluster that nobody can reach any more because its Secret or the key in it is gone: teardown deletes the
 * Secret first, and must not wait for it. `parting` is one whose last connection is still open and is being emptied. A
 * cluster without Kilo's Peer type holds no Peers. `shared` is one that holds only Peers which another mesh owns as well:
 * what becomes of them may depend on what is not known of that one.
 */
export function drainState(world: World, mesh: MeshId, { connection, last }: DrainRow): DrainState {
  if (connection.state === "connected") return stateBehind(world, mesh, connection.id);
  const isGone = connection.reason === "SecretMissing" || connection.reason === "SecretKeyMissing";
  if (!isGone) return "unreachable";
  if (last === undefined) return "lost";
  if (last === "empty") return "empty";
  const state = stateBehind(world, mesh, last);
  if (state === "holds") return "parting";
  return state === "unreachable" ? "lost" : state;
}

function stateBehind(
  world: World,
  mesh: MeshId,
  id: ConnectionId,
): Extract<DrainState, "empty" | "shared" | "holds" | "unreachable"> {
  const cluster = world.twins.get(id) ?? id;
  const peers = world.clusters.get(cluster)?.peers;
  if (peers?.state === "unknown" && peers.reason === "PeerCRDMissing") return "empty";
  if (peers?.state !== "known") return "unreachable";
  const held = heldOf(world, mesh, cluster);
  const isShared = oncePer((owner: MeshId) => owner !== mesh && mayHold(world, owner, cluster));
  if (held.some(({ owners }) => !owners.some(isShared))) return "holds";
  return held.length > 0 ? "shared" : "empty";
}

/** The Peers of a mesh that a cluster holds, as far as that is known. */
export function heldOf(world: World, mesh: MeshId, cluster: ConnectionId): readonly HeldPeer[] {
  const peers = world.clusters.get(cluster)?.peers;
  const ours = peers?.state === "known" ? adoptPeers(world, cluster, peers.items) : [];
  return ours.filter(({ instance, owners }) => instance === world.instance && owners.includes(mesh));
}

/** True when a mesh that exists may have Peers in a cluster. */
function mayHold(world: World, id: MeshId, cluster: ConnectionId): boolean {
  const owner = world.meshes.find(({ mesh }) => mesh.id === id);
  return owner ? isIn(owner, cluster) || reachesElsewhere(world, owner, cluster) : world.refused.has(id);
}

/**
 * True when an entry of the mesh leads to the cluster of a row that is not in its spec: another Secret, or another name. Of a
 * row whose Secret is gone, where that led when it was last there.
 */
export function isServed({ meshes, twins }: World, id: MeshId, { connection, last }: DrainRow): boolean {
  const connected = meshes.find(({ mesh }) => mesh.id === id);
  const cluster = connection.state === "connected" ? connection.id : last;
  if (!connected || cluster === undefined || cluster === "empty") return false;
  return isIn(connected, twins.get(cluster) ?? cluster);
}
