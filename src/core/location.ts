import type { Cidr } from "./cidr.ts";
import type { MeshEntry } from "./mesh.ts";
import type { MeshNode, NodeFacts, SkippedNode } from "./node.ts";
import type { HeldPeer } from "./peer.ts";
import { hostsOf, podsOf } from "./routes.ts";

export interface FoldInput {
  readonly entry: MeshEntry;
  readonly nodes: readonly NodeFacts[];
  readonly judged: readonly (MeshNode | SkippedNode)[];
  readonly heldByKey: ReadonlyMap<string, HeldPeer>;
}

/**
 * With Kilo's granularity `location` only the leader of a location has a WireGuard IP, and leads to all nodes of it: its
 * Peer carries their routes too. While a location has several leaders, its routes stay on the Peer that has them; where
 * nothing says who leads, the leaders carry only what is their own.
 */
export function foldLocations({ entry, nodes, judged, heldByKey }: FoldInput): (MeshNode | SkippedNode)[] {
  const factsOf = new Map(nodes.map((facts) => [facts.name, facts]));
  const isFollower = (node: MeshNode | SkippedNode): boolean =>
    node.kind === "skipped" && node.reason === "NodeNoWireguardIP" && isInLocation(factsOf.get(node.name));
  const folded = new Map<string, Cidr[]>();
  const covered = new Set<string>();
  for (const follower of judged.filter(isFollower)) {
    const facts = factsOf.get(follower.name);
    const location = facts?.location;
    const leaders = judged.filter((node): node is MeshNode => {
      return node.kind === "admitted" && factsOf.get(node.name)?.location === location;
    });
    const routes = facts ? [...podsOf(entry, facts), ...hostsOf(entry, facts)] : [];
    const leader = leaderOf(leaders, routes, heldByKey);
    if (!leader || routes.length === 0) continue;
    folded.set(leader.name, [...(folded.get(leader.name) ?? []), ...routes]);
    covered.add(follower.name);
  }
  return judged
    .filter(({ name }) => !covered.has(name))
    .map((node) => (node.kind === "admitted" ? { ...node, behind: folded.get(node.name) ?? [] } : node));
}

const isInLocation = (facts: NodeFacts | undefined): boolean => facts?.granularity === "location";

function leaderOf(
  leaders: readonly MeshNode[],
  routes: readonly Cidr[],
  heldByKey: ReadonlyMap<string, HeldPeer>,
): MeshNode | undefined {
  if (leaders.length <= 1) return leaders[0];
  return leaders.find(({ publicKey }) => {
    const held = heldByKey.get(publicKey);
    return held !== undefined && routes.some(({ text }) => held.allowedIps.includes(text));
  });
}
