import type { ConnectionId, NodeName } from "./ids.ts";
import { meshKeepaliveSeconds } from "./mesh.ts";
import type { NodeFacts } from "./node.ts";
import { leadsThere, reachesElsewhere } from "./same-cluster.ts";
import { isIn } from "./source.ts";
import type { World } from "./world.ts";

/** What to write on a node; without seconds our annotation goes. */
export interface KeepaliveChange {
  readonly node: NodeName;
  readonly seconds?: number;
}

/**
 * Only the node's own annotation makes Kilo send keepalives, which keep NAT mappings alive and make a change of Peers
 * hitless. It is set where nobody has set it, never over a person's value, and taken back when no mesh asks for it.
 */
export function keepaliveChanges(world: World, cluster: ConnectionId, floorSeconds: number): KeepaliveChange[] {
  const nodes = world.clusters.get(cluster)?.nodes;
  if (nodes?.state !== "known") return [];
  const asked = world.meshes
    .filter((connected) => isIn(connected, cluster))
    .map(({ mesh }) => meshKeepaliveSeconds(mesh));
  const inMesh = asked.length > 0;
  if (!inMesh && mayBeMeant(world, cluster)) return [];
  const seconds = inMesh ? Math.max(floorSeconds, ...asked) : 0;
  return nodes.items.flatMap((facts) => changeOf(facts, seconds)).sort((a, b) => (a.node < b.node ? -1 : 1));
}

/**
 * A mesh may lead to this cluster through another connection, whose business its nodes are then; and one that cannot be led
 * to its clusters now may still mean one that is leaving.
 */
function mayBeMeant(world: World, cluster: ConnectionId): boolean {
  const means = world.leaving.has(cluster) ? reachesElsewhere : leadsThere;
  return world.meshes.some((mesh) => means(world, mesh, cluster));
}

function changeOf({ name, wireguardIp, keepalive, keepaliveMark }: NodeFacts, seconds: number): KeepaliveChange[] {
  const isOurs = keepaliveMark !== "" && keepalive === keepaliveMark;
  const isWanted = seconds > 0 && wireguardIp !== "";
  if (isWanted && (keepalive === "" || (isOurs && keepalive !== String(seconds)))) return [{ node: name, seconds }];
  return isOurs && seconds === 0 ? [{ node: name }] : [];
}
