import { entriesByAddress, isNamesake } from "./called.ts";
import { networksIn } from "./cidr.ts";
import { endpointRoutes } from "./endpoint.ts";
import { type Helds, type Holding, heldsOf } from "./holding.ts";
import type { ConnectionId, MeshId } from "./ids.ts";
import type { JudgedSource } from "./judge.ts";
import type { KeptPeer } from "./kept.ts";
import { routesInto } from "./kept-routes.ts";
import { declaredNetworks, declaredRanges } from "./mesh.ts";
import { type MeshNode, ownRoutes } from "./node.ts";
import { onceFor } from "./once-per.ts";
import type { HeldPeer } from "./peer.ts";
import type { Asker, Promises, Usage } from "./promised.ts";
import { meet, rangesOf, type Span } from "./ranges.ts";
import type { Recall } from "./recall.ts";
import type { Source } from "./source.ts";
import { compareTexts } from "./texts.ts";

/** The Peers that a source has in a target already. What is on them works, and what works stays: it is in use. */
export interface Use {
  /** Absent where nobody knows which it is. */
  readonly cluster?: ConnectionId | undefined;
  readonly held: readonly HeldPeer[];
}

export interface UseInput {
  readonly mesh: MeshId;
  readonly cluster: ConnectionId | undefined;
  /** Of the nodes that are wanted. */
  readonly helds: Helds;
  readonly kept: readonly HeldPeer[];
}

/** A Peer with the key of a node is not of its mesh before the mesh has written it. */
export function useOf({ mesh, cluster, helds, kept }: UseInput): Use {
  const own = helds.filter((held) => held?.owners.includes(mesh)) as readonly HeldPeer[];
  return { cluster, held: [...own, ...kept] };
}

export interface OthersUseInput {
  readonly foreign: readonly HeldPeer[];
  readonly kept: readonly HeldPeer[];
}

export function useOfOthers({ foreign, kept }: OthersUseInput): Use {
  return { held: [...foreign, ...kept] };
}

export interface UsesInput {
  readonly sources: readonly JudgedSource[];
  readonly holding: Holding;
  readonly kept: readonly KeptPeer[];
  readonly recall: Recall;
}

/** One for each source, then one for all Peers of others: kept for meshes that give nothing now, or not ours. */
export function usesOf({ sources, holding, kept, recall }: UsesInput): readonly Use[] {
  const named = Map.groupBy(kept, ({ held }) => held.source);
  const known = new Set<HeldPeer>();
  const ofSources = sources.map((source) => {
    const helds = heldsOf(holding, source.admitted);
    const { mesh, connection: cluster } = source;
    const own = keptOf(source, named.get(source.source) ?? []);
    for (const held of own) known.add(held);
    return recall.of(source).use({ mesh, cluster, helds, kept: own });
  });
  const strays = kept.filter(({ held }) => !known.has(held)).map(({ held }) => held);
  return [...ofSources, recall.useOfOthers({ foreign: holding.foreign, kept: strays })];
}

/** Peers of a source that are only kept. */
export function keptOf(source: Source, kept: readonly KeptPeer[]): readonly HeldPeer[] {
  return kept.filter(({ held }) => isNamesake(source, held)).map(({ held }) => held);
}

/** Where an entry that leads nowhere now has led: another mesh has a Peer with it that comes from there. */
export function lastKnownCluster({ mesh, entry, connected }: Source, uses: readonly Use[]): ConnectionId | undefined {
  const isShared = (held: HeldPeer): boolean =>
    held.owners.length > 1 &&
    held.owners.includes(mesh) &&
    entriesByAddress(connected.mesh.entries, held).every((behind) => behind === entry) &&
    routesInto(entry, held);
  return uses.find(({ cluster, held }) => cluster !== undefined && held.some(isShared))?.cluster;
}

/** True where a Peer of another cluster leads to it. */
export function isRoutedToOthers(uses: readonly Use[], { cluster }: Asker, span: Span): boolean {
  return uses.some((use) => use.cluster !== cluster && routesIn(use.held).touches(span));
}

const routesIn = onceFor((held: readonly HeldPeer[]) => rangesOf(held.flatMap(routesOn)));
const addressesIn = onceFor((held: readonly HeldPeer[]) =>
  rangesOf([...held.flatMap(routesOn), ...held.flatMap(endOf)]),
);
const routesOn = ({ allowedIps }: HeldPeer) => networksIn(allowedIps);
const endOf = ({ endpoint }: HeldPeer) => (endpoint ? endpointRoutes(endpoint) : []);

export interface UsagesInput extends Omit<Promises, "usages"> {
  /** The nodes of each entry; absent while they are unknown. */
  readonly nodes: readonly (readonly MeshNode[] | undefined)[];
  /** What each entry uses, and after them what others do. */
  readonly uses: readonly Use[];
}

/**
 * Of all networks of the entries, in order. An entry has to have all its networks for itself: no Peer of another cluster is
 * in them, be it with a route or with its endpoint. The oldest mesh needs no such right. A cluster of which nothing is known
 * may have nodes in any of them: nobody gains what it had because it is lost.
 */
export function usagesOf(input: UsagesInput): readonly Usage[] {
  const { entries, nodes, ranks, uses } = input;
  const [oldest] = ranks.toSorted(compareTexts);
  return entries.flatMap((entry, index) => {
    const networks = declaredNetworks(entry);
    if (ranks[index] === oldest || isEntered(input, index)) return networks.map(() => "none" as const);
    const listed = nodes[index];
    const own = uses.filter((_, place) => isUseOf(input, index, place));
    return networks.map((network): Usage => {
      if (own.some(({ held }) => routesIn(held).touches(network))) return "peers";
      return !listed || wantedIn(listed).touches(network) ? "nodes" : "none";
    });
  });
}

const wantedIn = onceFor((nodes: readonly MeshNode[]) => rangesOf(nodes.flatMap(ownRoutes)));

/** True when another cluster is in the networks of an entry. */
function isEntered(input: UsagesInput, own: number): boolean {
  const entry = input.entries[own];
  return input.uses.some(
    ({ held }, place) =>
      !isUseOf(input, own, place) && entry !== undefined && meet(declaredRanges(entry), addressesIn(held)),
  );
}

/** Also what another mesh, under another name, has of the same cluster: a Peer that is kept is called as its first owner says. */
function isUseOf({ connections, uses }: UsagesInput, own: number, place: number): boolean {
  const cluster = uses[place]?.cluster;
  return place === own || (cluster !== undefined && cluster === connections[own]);
}
