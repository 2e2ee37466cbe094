import type { ConnectionId } from "./ids.ts";
import { clustersOf, isIn } from "./source.ts";
import type { ConnectedMesh, World } from "./world.ts";

/** An owner may hold this cluster through credentials of its own: then its Peers here are that connection's business. */
export function reachesElsewhere(world: World, owner: ConnectedMesh, target: ConnectionId): boolean {
  if (isIn(owner, target)) return false;
  return [...owner.connections.values()].some((connection) => {
    const id = connection.state === "connected" ? connection.id : undefined;
    return !id || !isListed(world, id) || !isListed(world, target) || sharesNode(world, id, target);
  });
}

/** True when a connection of the mesh is known to lead to this very cluster. */
export function leadsThere(world: World, connected: ConnectedMesh, cluster: ConnectionId): boolean {
  return [...clustersOf(connected)].some((id) => sharesNode(world, id, cluster));
}

/** Two connections that list one Node lead to one cluster. */
export function sharesNode(world: World, a: ConnectionId, b: ConnectionId): boolean {
  const here = uidsOf(world, a);
  return [...(uidsOf(world, b) ?? [])].some((uid) => here?.has(uid));
}

const isListed = (world: World, id: ConnectionId): boolean => world.clusters.get(id)?.nodes.state === "known";

function uidsOf(world: World, id: ConnectionId): Set<string> | undefined {
  const nodes = world.clusters.get(id)?.nodes;
  return nodes?.state === "known" ? new Set(nodes.items.map(({ uid }) => uid)) : undefined;
}
