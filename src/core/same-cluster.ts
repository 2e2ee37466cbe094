import { networksIn, parseHostInCidr } from "./cidr.ts";
import type { ConnectionId } from "./ids.ts";
import { mayBeOf } from "./kept-routes.ts";
import { declaredRanges, type MeshEntry } from "./mesh.ts";
import type { NodeFacts } from "./node.ts";
import { onceFor } from "./once-per.ts";
import type { HeldPeer } from "./peer.ts";
import { meet, rangesOf } from "./ranges.ts";
import { clustersOf, isIn, leadsTo } from "./source.ts";
import type { ConnectedMesh, World } from "./world.ts";

/** An owner may hold this cluster through credentials of its own: then its Peers here are that connection's business. */
export function reachesElsewhere(world: World, owner: ConnectedMesh, target: ConnectionId): boolean {
  return doorsTo(world, owner, target).length > 0;
}

/**
 * The entries of an owner that may lead to this cluster through credentials of their own. One that declares nothing of what
 * the nodes here have is none, whatever is known of it: no node of this cluster could be its own. So a cluster that cannot
 * be seen, or that copies the UIDs of another, holds nothing in one that its mesh has left. Who vouches for the servers is
 * not asked: two kubeconfigs for one cluster may name two authorities, and then each would take the Peers of the other away.
 */
export function doorsTo(world: World, owner: ConnectedMesh, target: ConnectionId): readonly MeshEntry[] {
  if (isIn(owner, target)) return [];
  return owner.mesh.entries.filter((entry) => {
    const id = leadsTo(owner, entry.name);
    if (!declaresNodesOf(world, target, entry)) return false;
    return !id || !isListed(world, id) || !isListed(world, target) || sharesNode(world, id, target);
  });
}

/** What an owner may mean by a Peer here. */
export interface Meaning {
  readonly entries: readonly MeshEntry[];
  /** Given where it is no source here: then one of them has to lead here, and it is not the one that the Peer comes from. */
  readonly doors?: readonly MeshEntry[];
}

/** The entries that the Peer may come from. */
export function entriesBehind({ entries, doors }: Meaning, held: HeldPeer): readonly MeshEntry[] {
  const behind = entries.filter((entry) => mayBeOf(entry, held));
  return !doors || behind.some((entry) => doors.some((door) => door !== entry)) ? behind : [];
}

/** True also while nothing is known of them. */
function declaresNodesOf({ clusters }: World, target: ConnectionId, entry: MeshEntry): boolean {
  const nodes = clusters.get(target)?.nodes;
  const there = networksOf(nodes?.state === "known" ? nodes.items : nobody);
  return there.spans.length === 0 || meet(there, declaredRanges(entry));
}

const nobody: readonly NodeFacts[] = [];
const networksOf = onceFor((nodes: readonly NodeFacts[]) =>
  rangesOf(
    nodes.flatMap(({ podCidrs }) => networksIn(podCidrs)),
    nodes.flatMap(({ wireguardIp }) => parseHostInCidr(wireguardIp) ?? []),
  ),
);

/** True when a connection of the mesh is known to lead to this very cluster. */
export function leadsThere(world: World, connected: ConnectedMesh, cluster: ConnectionId): boolean {
  return [...clustersOf(connected)].some((id) => sharesNode(world, id, cluster));
}

/** Two connections that list one Node lead to one cluster. */
export function sharesNode(world: World, a: ConnectionId, b: ConnectionId): boolean {
  const here = uidsOf(world, a);
  return [...(uidsOf(world, b) ?? [])].some((uid) => here?.has(uid));
}

/** They are known to lead to two clusters: by their nodes, or while one cannot list those, by who vouches for the servers. */
export function areTwoClusters(world: World, a: ConnectionId, b: ConnectionId): boolean {
  if (isListed(world, a) && isListed(world, b)) return !sharesNode(world, a, b);
  const [one, other] = [a, b].map((id) => world.clusters.get(id)?.trust);
  return one !== undefined && other !== undefined && one !== other;
}

const isListed = (world: World, id: ConnectionId): boolean => world.clusters.get(id)?.nodes.state === "known";

function uidsOf(world: World, id: ConnectionId): Set<string> | undefined {
  const nodes = world.clusters.get(id)?.nodes;
  return nodes?.state === "known" ? new Set(nodes.items.map(({ uid }) => uid)) : undefined;
}
