import type { Cidr } from "./cidr.ts";
import type { Helds } from "./holding.ts";
import type { MeshEntry } from "./mesh.ts";
import type { Judged, MeshNode, NodeFacts, SkippedNode } from "./node.ts";
import { routesOf } from "./peer.ts";
import { hostsOf, podsOf } from "./routes.ts";
import type { ClusterView } from "./world.ts";

export interface FoldInput {
  readonly entry: MeshEntry;
  readonly nodes: readonly NodeFacts[];
  readonly admitted: readonly MeshNode[];
  readonly skipped: readonly SkippedNode[];
  /** Of those that are admitted. */
  readonly helds: Helds;
  readonly silent: ClusterView["silent"];
}

export interface Folded extends Judged {
  /** Locations of which nothing says who leads to their nodes. */
  readonly unclear: readonly string[];
}

/**
 * With Kilo's granularity `location` only the leader of a location has a WireGuard IP, and leads to all nodes of it: its
 * Peer carries their routes too. They stay on the Peer that has them until that one is silent and exactly one other is
 * heard; where nothing says who leads, the leaders carry only what is their own.
 */
export function foldLocations({ entry, nodes, admitted, skipped, helds, silent }: FoldInput): Folded {
  if (!skipped.some(isAddressless)) return { admitted, skipped, unclear: [] };
  const factsOf = new Map(nodes.map((facts) => [facts.name, facts]));
  const locationOf = ({ name }: { name: NodeFacts["name"] }): string => factsOf.get(name)?.location ?? "";
  const leaders = Map.groupBy(admitted, locationOf);
  const there = new Map(admitted.map((leader, index) => [leader, routesOf(helds[index])]));
  const folded = new Map<string, Cidr[]>();
  const covered = new Set<string>();
  const unclear = new Set<string>();
  for (const follower of skipped.filter((node) => isFollower(node, factsOf.get(node.name)))) {
    const facts = factsOf.get(follower.name);
    const routes = facts ? [...podsOf(entry, facts), ...hostsOf(entry, facts)] : [];
    const leader = leaderOf(leaders.get(locationOf(follower)) ?? [], routes, { there, silent });
    if (!leader) unclear.add(locationOf(follower));
    if (!leader || routes.length === 0) continue;
    const behind = folded.get(leader.name) ?? [];
    behind.push(...routes);
    folded.set(leader.name, behind);
    covered.add(follower.name);
  }
  return {
    admitted: admitted.map((node) => {
      const behind = folded.get(node.name);
      return behind ? { ...node, behind } : node;
    }),
    skipped: skipped.filter(({ name }) => !covered.has(name)),
    unclear: [...unclear].sort(),
  };
}

const isAddressless = ({ reason }: SkippedNode): boolean => reason === "NodeNoWireguardIP";

function isFollower(node: SkippedNode, facts: NodeFacts | undefined): boolean {
  return isAddressless(node) && facts?.granularity === "location";
}

interface Leaders extends Pick<FoldInput, "silent"> {
  /** What the Peers of the leaders hold. */
  readonly there: ReadonlyMap<MeshNode, ReturnType<typeof routesOf>>;
}

function leaderOf(
  leaders: readonly MeshNode[],
  routes: readonly Cidr[],
  { there, silent }: Leaders,
): MeshNode | undefined {
  const heard = leaders.filter(({ name }) => !silent.has(name));
  const holder = leaders.find((leader) => routes.some((route) => there.get(leader)?.covers(route)));
  if (holder && (heard.includes(holder) || heard.length !== 1)) return holder;
  return heard.length === 1 ? heard[0] : leaders.length === 1 ? leaders[0] : undefined;
}
