import type { ConnectionId } from "./ids.ts";
import type { NodeFacts } from "./node.ts";
import { clustersOf } from "./source.ts";
import type { ConnectedMesh, World } from "./world.ts";

/** Pairs of a node and another cluster. */
export interface Links {
  /** Those of them in which a node of that cluster reports a handshake since its last device reset. */
  readonly up: number;
  /** Those in which the node has a Peer there. */
  readonly expected: number;
}

/** One target as far as it shows what became of a mesh's nodes. */
export interface Presence {
  readonly target: ConnectionId;
  /** Public keys of the mesh's Peers there. */
  readonly held: ReadonlySet<string>;
  /** Those that its nodes have shaken hands with; absent while its nodes are unknown. */
  readonly met?: ReadonlySet<string>;
}

/** Each cluster of a mesh whose Peers we know, once, however many entries lead to it. */
export function presences(world: World, connected: ConnectedMesh): Presence[] {
  return [...clustersOf(connected)].flatMap((target): Presence[] => {
    const view = world.clusters.get(target);
    if (view?.peers.state !== "known") return [];
    const ours = view.peers.items.filter(({ owners }) => owners.includes(connected.mesh.id));
    const held = new Set(ours.map(({ publicKey }) => publicKey));
    if (view.nodes.state !== "known") return [{ target, held }];
    return [{ target, held, met: new Set([...view.observed.values()].flatMap((seen) => [...seen.keys()])) }];
  });
}

/** How many of the nodes have a Peer in every one of these targets. */
export function registeredIn(targets: readonly Presence[], nodes: readonly NodeFacts[]): number {
  return targets.length === 0 ? 0 : nodes.filter(({ key }) => targets.every(({ held }) => held.has(key))).length;
}

/** Only a handshake that the other side reports counts: that a Peer exists says nothing of packets. */
export function linksTo(targets: readonly Presence[], nodes: readonly NodeFacts[]): Links {
  const pairs = targets.flatMap(({ held, met }) =>
    met ? nodes.filter(({ key }) => held.has(key)).map(({ key }) => met.has(key)) : [],
  );
  return { up: pairs.filter(Boolean).length, expected: pairs.length };
}
