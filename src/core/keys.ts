import { type Called, entriesByAddress, isCalledAfter, isNamesake } from "./called.ts";
import { type Helds, type Holding, heldsOf, heldWithKey } from "./holding.ts";
import type { ConnectionId } from "./ids.ts";
import type { JudgedSource } from "./judge.ts";
import { keeping } from "./kept.ts";
import { rankOf } from "./mesh.ts";
import type { MeshNode, NodeFacts } from "./node.ts";
import { onceFor } from "./once-per.ts";
import type { HeldPeer } from "./peer.ts";
import type { Recall } from "./recall.ts";
import { compareTexts } from "./texts.ts";
import type { World } from "./world.ts";

export interface KeysInput {
  readonly world: World;
  readonly target: ConnectionId;
  readonly sources: readonly JudgedSource[];
  readonly holding: Holding;
  readonly recall: Recall;
}

export interface SettledKeys {
  /** The sources with the nodes whose key is theirs. */
  readonly sources: readonly JudgedSource[];
  /** The sources with the nodes whose key another cluster has. */
  readonly refused: readonly JudgedSource[];
  /** Peers of ours whose key none of them wants. */
  readonly unwanted: readonly HeldPeer[];
  /** Keys that several of the sources want, all for one cluster. */
  readonly shared: ReadonlySet<string>;
}

interface Bid {
  readonly source: JudgedSource;
  readonly node: MeshNode;
}

/**
 * A public key belongs to one cluster: everybody can read it on the node that has it, and write it on one that has not.
 * Who has a Peer with it here already keeps it, also while nothing is known of that cluster; else the older mesh has it.
 * The keys of the target's own nodes are nobody's.
 */
export function settleKeys(input: KeysInput): SettledKeys {
  const { sources } = input;
  const ownKeys = ownKeysOf(input);
  const { unwanted, disputed } = surveyOf(input, ownKeys);
  if (disputed.size === 0) return { sources, refused: [], unwanted, shared: disputed };
  const whyKept = keeping(input);
  const winner = (key: string, bids: readonly Bid[]): ConnectionId | undefined => {
    const held = heldWithKey(input.holding, key);
    if (ownKeys.has(key)) return undefined;
    // What keeps nothing of its routes is not kept: it would be deleted, and written anew for the next.
    return winnerOf(bids, held, () => held !== undefined && (whyKept(held)?.routes ?? []).length > 0);
  };
  const bids = [...bidsByKey(sources, disputed)];
  const lost = new Set(bids.flatMap(([key, ofKey]) => losersOf(ofKey, winner(key, ofKey))));
  const isShared = (ofKey: readonly Bid[]): boolean => ofKey.filter(({ node }) => !lost.has(node)).length > 1;
  const shared = new Set(bids.filter(([, ofKey]) => isShared(ofKey)).map(([key]) => key));
  if (lost.size === 0) return { sources, refused: [], unwanted, shared };
  const split = (isLost: boolean): JudgedSource[] =>
    sources.map((source) => ({ ...source, admitted: source.admitted.filter((node) => lost.has(node) === isLost) }));
  const won = split(false);
  const left = surveyOf({ ...input, sources: won }, ownKeys);
  return { sources: won, refused: split(true), unwanted: left.unwanted, shared };
}

function surveyOf({ sources, holding, recall }: KeysInput, ownKeys: ReadonlySet<string>) {
  const wishes = sources.map((source) => {
    const { mesh, source: name, admitted, connected } = source;
    const { entries } = connected.mesh;
    return recall.of(source).wishedKeys({ mesh, source: name, entries, admitted, helds: heldsOf(holding, admitted) });
  });
  const { disputed, unwanted } = recall.surveyKeys({ wishes, ownKeys, held: holding.roster.keys });
  return { disputed, unwanted: unwanted.flatMap((place) => holding.ours[place] ?? []) };
}

export interface KeysOfSource extends Called {
  readonly admitted: readonly MeshNode[];
  /** Of each of them. */
  readonly helds: Helds;
}

/** The keys that a source wants, one for each node. */
export interface WishedKeys {
  readonly keys: readonly string[];
  /** Those of them whose Peer is not known to be its own. */
  readonly doubtful: readonly string[];
}

export function wishedKeys({ admitted, helds, ...source }: KeysOfSource): WishedKeys {
  const isDoubtful = (_: MeshNode, index: number): boolean => {
    const held = helds[index];
    return held !== undefined && !isCalledAfter(source, held);
  };
  return { keys: admitted.map(keyOf), doubtful: admitted.filter(isDoubtful).map(keyOf) };
}

const keyOf = ({ publicKey }: MeshNode): string => publicKey;

export interface SurveyInput {
  readonly wishes: readonly WishedKeys[];
  readonly ownKeys: ReadonlySet<string>;
  /** Of the Peers of ours. */
  readonly held: readonly string[];
}

export interface Survey {
  /** Places of Peers of ours whose key nobody wants. */
  readonly unwanted: readonly number[];
  /** All but those that one node alone wants and whose Peer, if there is one, is that of its source. */
  readonly disputed: ReadonlySet<string>;
}

export function surveyKeys({ wishes, ownKeys, held }: SurveyInput): Survey {
  const wanted = new Set<string>();
  const disputed = new Set(wishes.flatMap(({ doubtful }) => doubtful));
  for (const key of wishes.flatMap(({ keys }) => keys)) {
    if (wanted.has(key) || ownKeys.has(key)) disputed.add(key);
    wanted.add(key);
  }
  return { disputed, unwanted: held.flatMap((key, place) => (wanted.has(key) ? [] : [place])) };
}

function bidsByKey(
  sources: readonly JudgedSource[],
  disputed: ReadonlySet<string>,
): ReadonlyMap<string, readonly Bid[]> {
  const bids = sources.flatMap((source) =>
    source.admitted.filter(({ publicKey }) => disputed.has(publicKey)).map((node) => ({ source, node })),
  );
  return Map.groupBy(bids, ({ node }) => node.publicKey);
}

const nobody: readonly MeshNode[] = [];

function losersOf(bids: readonly Bid[], winner: ConnectionId | undefined): readonly MeshNode[] {
  if (bids.every(({ source }) => source.connection === winner)) return nobody;
  return bids.filter(({ source }) => source.connection !== winner).map(({ node }) => node);
}

function ownKeysOf({ world, target }: KeysInput): ReadonlySet<string> {
  const nodes = world.clusters.get(target)?.nodes;
  return keysOf(nodes?.state === "known" ? nodes.items : []);
}

const keysOf = onceFor((nodes: readonly NodeFacts[]) => new Set(nodes.map(({ key }) => key)));

/** The cluster that has the key; undefined when none of the bidders has. */
function winnerOf(bids: readonly Bid[], held: HeldPeer | undefined, isKept: () => boolean): ConnectionId | undefined {
  const [only] = bids.length === 1 ? bids : [];
  if (only && (!held || isNamesake(only.source, held))) return only.source.connection;
  const clusters = new Set(bids.map(({ source }) => source.connection));
  const continued = held ? continuedBy(bids, held) : [];
  if (continued.length === 0 && isKept()) return undefined;
  if (clusters.size === 1) return bids[0]?.source.connection;
  const [first] = (continued.length > 0 ? continued : bids).toSorted(
    (a, b) => order(a, held) - order(b, held) || byRank(a, b) || compareTexts(a.source.source, b.source.source),
  );
  return first?.source.connection;
}

/**
 * Of those that call the cluster as the Peer does; where none does, of its other owners those whose node's WireGuard IP is on
 * it, or who can mean no other cluster.
 */
function continuedBy(bids: readonly Bid[], held: HeldPeer): readonly Bid[] {
  const named = bids.filter(({ source }) => isNamesake(source, held));
  if (named.length > 0) return named;
  const owned = bids.filter(({ source }) => held.owners.includes(source.mesh));
  const addressed = owned.filter(({ node }) => held.allowedIps.includes(node.wireguard.text));
  return addressed.length > 0 ? addressed : owned.filter(({ source }) => isMeant(source, held));
}

/** Which entry another owner means, the node's WireGuard IP tells, unless its mesh has the name for the same cluster. */
function isMeant({ mesh, connected, source }: JudgedSource, held: HeldPeer): boolean {
  const { entries } = connected.mesh;
  const behind = entriesByAddress(entries, held);
  const meant = entries.filter(
    (entry) => behind.includes(entry) || isCalledAfter({ mesh, source: entry.name, entries }, held),
  );
  return meant.length === 1 && meant[0]?.name === source;
}

const order = ({ node }: Bid, held: HeldPeer | undefined): number => (held?.node === node.name ? 0 : 1);

function byRank(a: Bid, b: Bid): number {
  return compareTexts(rankOf(a.source.connected.mesh), rankOf(b.source.connected.mesh));
}
