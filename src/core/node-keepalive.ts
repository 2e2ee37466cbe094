import type { ConnectionId, NodeName } from "./ids.ts";
import type { NodeFacts } from "./node.ts";
import { leadsThere, reachesElsewhere } from "./same-cluster.ts";
import { isIn } from "./source.ts";
import type { ConnectedMesh, World } from "./world.ts";

/** What to write on a node; without seconds our annotation goes. */
export interface KeepaliveChange {
  readonly node: NodeName;
  readonly seconds?: number;
  /** There is a value of ours already. */
  readonly isSet?: true;
}

/** What stands beside our value on a node: which operator put it there, and what it was. */
export const keepaliveMark = (instance: string, seconds: number | string): string => `${instance}/${seconds}`;

/**
 * Only the node's own annotation makes Kilo send keepalives, which keep NAT mappings alive and make a change of Peers
 * hitless. It is set where nobody has set it, never over the value of a person or of another operator, and taken back
 * when no mesh asks for it. Of several that are asked for the smallest serves all; `flagSeconds` is asked of every mesh.
 */
export function keepaliveChanges(world: World, cluster: ConnectionId, flagSeconds: number): KeepaliveChange[] {
  const nodes = world.clusters.get(cluster)?.nodes;
  if (nodes?.state !== "known") return [];
  const meshes = world.meshes.filter((connected) => isIn(connected, cluster));
  const inMesh = meshes.length > 0;
  if (!inMesh && mayBeMeant(world, cluster)) return [];
  const seconds = inMesh ? leastSeconds(meshes, flagSeconds) : 0;
  const isSure = !mayBeAsked(world, cluster) || world.leaving.has(cluster);
  const isLower = ({ keepalive }: NodeFacts): boolean =>
    keepalive === "" || (seconds > 0 && seconds < Number(keepalive));
  return nodes.items
    .filter((facts) => isSure || isLower(facts))
    .flatMap((facts) => changeOf(facts, seconds, world.instance))
    .sort((a, b) => (a.node < b.node ? -1 : 1));
}

/**
 * A mesh that cannot be used as it is, or cannot be led here now, may ask for what is there. A cluster that leaves is in no
 * ledger, so in none of these.
 */
function mayBeAsked(world: World, cluster: ConnectionId): boolean {
  return world.refused.size > 0 || world.meshes.some((mesh) => reachesElsewhere(world, mesh, cluster));
}

/** 0 when nobody asks for one. */
function leastSeconds(meshes: readonly ConnectedMesh[], flagSeconds: number): number {
  const asked = meshes.flatMap(({ mesh }) => mesh.entries.map(({ keepaliveSeconds }) => keepaliveSeconds));
  const [least = 0] = [...asked, flagSeconds].filter((seconds) => seconds > 0).sort((a, b) => a - b);
  return least;
}

/**
 * A mesh may lead to this cluster through another connection, whose business its nodes are then; and one that cannot be led
 * to its clusters now may still mean one that is leaving.
 */
function mayBeMeant(world: World, cluster: ConnectionId): boolean {
  const means = world.leaving.has(cluster) ? reachesElsewhere : leadsThere;
  return world.meshes.some((mesh) => means(world, mesh, cluster));
}

/**
 * A mark of our earlier versions is the value alone and names nobody. Who wants a value there puts its name to it, and nobody
 * takes it away: it may be another operator's, which would only set it again.
 */
function changeOf(facts: NodeFacts, seconds: number, instance: string): KeepaliveChange[] {
  const { name: node, keepalive, keepaliveMark: mark } = facts;
  const isWanted = seconds > 0 && facts.wireguardIp !== "";
  if (keepalive === "") return isWanted ? [{ node, seconds }] : [];
  const isOurs = mark === keepaliveMark(instance, keepalive);
  const isNameless = mark === keepalive;
  if (isWanted && (isNameless || (isOurs && keepalive !== String(seconds)))) return [{ node, seconds, isSet: true }];
  return isOurs && seconds === 0 ? [{ node, isSet: true }] : [];
}
