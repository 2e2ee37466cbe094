import { reportsIn } from "./discovered.ts";
import type { ConnectionId, MeshId } from "./ids.ts";
import type { Mesh, MeshEntry } from "./mesh.ts";
import type { NodeFacts } from "./node.ts";
import { onceFor, onceForBoth } from "./once-per.ts";
import type { HeldPeer } from "./peer.ts";
import { remembered, rememberedEach } from "./remembered.ts";
import { clustersOf } from "./source.ts";
import type { ClusterView, ConnectedMesh, World } from "./world.ts";

/** Pairs of a node and another cluster. */
export interface Links {
  /** Those of them in which a node of that cluster reports a handshake since its last device reset. */
  readonly up: number;
  /** Those in which the node has a Peer there. */
  readonly expected: number;
}

/** One target as far as it shows what became of a mesh's nodes: the same object while it shows the same. */
export interface Presence {
  readonly target: ConnectionId;
  /** Public keys of the mesh's Peers there. */
  readonly held: Keys;
  /** Those that its nodes have shaken hands with; absent while its nodes are unknown. */
  readonly met?: Keys;
}

interface Keys {
  readonly has: (key: string) => boolean;
}

/** Each cluster of a mesh whose Peers we know, once, however many entries lead to it. */
export function presences(world: World, connected: ConnectedMesh): Presence[] {
  const targets = clustersOf(connected);
  const memory = memoryOf(connected.mesh);
  for (const id of memory.keys()) if (!targets.has(id)) memory.delete(id);
  return [...targets].flatMap((target): Presence[] => {
    const view = world.clusters.get(target);
    if (view?.peers.state !== "known") return [];
    const steps = memory.get(target) ?? presenceSteps(connected.mesh.id);
    memory.set(target, steps);
    return [steps.presence({ target, held: steps.held(view.peers.items), ...metIn(view) })];
  });
}

/** What was last seen of a mesh in each of its targets. */
const memoryOf = onceFor((_: Mesh) => new Map<ConnectionId, ReturnType<typeof presenceSteps>>());

function presenceSteps(id: MeshId) {
  return { held: heldKeys(id), presence: remembered((presence: Presence) => presence) };
}

/** Most of what is written on Peers leaves their keys as they are; those that nobody wrote on are the same objects. */
function heldKeys(id: MeshId): (peers: readonly HeldPeer[]) => ReadonlySet<string> {
  const keyEach = rememberedEach(({ owners, publicKey }: HeldPeer) => (owners.includes(id) ? publicKey : undefined));
  const asSet = remembered(({ keys }: { readonly keys: readonly (string | undefined)[] }) => {
    return new Set(keys.filter((key) => key !== undefined));
  });
  return (peers) => asSet({ keys: keyEach(peers) });
}

const metIn = ({ nodes, observed }: ClusterView): Pick<Presence, "met"> =>
  nodes.state === "known" ? { met: reportsIn(observed) } : {};

/** The keys of an entry's nodes, in their order: the same list while they are the same, whatever else changes on nodes. */
export function keysBehind(entry: MeshEntry, nodes: readonly NodeFacts[]): readonly string[] {
  return lastKeys(entry)({ keys: keysOf(nodes) });
}

const keysOf = onceFor((nodes: readonly NodeFacts[]): readonly string[] => nodes.map(({ key }) => key));
const lastKeys = onceFor((_: MeshEntry) => remembered(({ keys }: { readonly keys: readonly string[] }) => keys));

/** How many of the nodes with these keys have a Peer in every one of these targets. */
export function registeredIn(targets: readonly Presence[], keys: readonly string[]): number {
  if (targets.length === 0) return 0;
  const lacking = new Set(targets.flatMap((target) => countOf(keys, target).lacking));
  return lacking.size === 0 ? keys.length : keys.filter((key) => !lacking.has(key)).length;
}

/** Only a handshake that the other side reports counts: that a Peer exists says nothing of packets. */
export function linksTo(targets: readonly Presence[], keys: readonly string[]): Links {
  const counts = targets.map((target) => countOf(keys, target));
  const sum = (count: keyof Links): number => counts.reduce((total, each) => total + each[count], 0);
  return { up: sum("up"), expected: sum("expected") };
}

/** What became of the nodes of one cluster in another. */
interface Count extends Links {
  /** The keys that no Peer there has. */
  readonly lacking: readonly string[];
}

/** Counted once while neither changes: a status costs about as much as changed since the last one. */
const countOf = onceForBoth((keys: readonly string[], { held, met }: Presence): Count => {
  const present = keys.filter((key) => held.has(key));
  const lacking = present.length === keys.length ? [] : keys.filter((key) => !held.has(key));
  if (!met) return { lacking, up: 0, expected: 0 };
  return { lacking, up: present.filter((key) => met.has(key)).length, expected: present.length };
});
