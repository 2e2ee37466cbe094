import { admitNode } from "./admit.ts";
import type { ConnectionId } from "./ids.ts";
import type { HeldPeer, Peer } from "./peer.ts";
import { skipReasons } from "./reasons.ts";
import { isIn, type Source, sourcesOf } from "./source.ts";
import { type ConnectedMesh, nodesBehind, type World } from "./world.ts";

/** Why an existing Peer that is not wanted stays for now. */
export type KeptReason =
  | "MeshNotAccepted"
  | "OwnedElsewhere"
  | "SourceUnknown"
  | "NodeDeparting"
  | "NodeNotReady"
  | "WithdrawalHeld";

export interface KeptPeer {
  readonly held: HeldPeer;
  readonly reason: KeptReason;
  /** When to look again, if time alone can change the answer. */
  readonly afterMs?: number;
  /** The cluster whose next complete list can prove that the node is gone. */
  readonly proof?: ConnectionId;
}

export interface KeptInput {
  readonly world: World;
  readonly target: ConnectionId;
  readonly ours: readonly HeldPeer[];
  readonly wanted: readonly Peer[];
}

/** A withdrawal needs proof. These Peers are not wanted, and nothing proves yet that they may go. */
export function keptPeers({ world, target, ours, wanted }: KeptInput): KeptPeer[] {
  const wantedNames = new Set(wanted.map(({ name }) => name));
  const sources = sourcesOf(world.meshes, target);
  return ours
    .filter(({ name }) => !wantedNames.has(name))
    .flatMap((held) => {
      const why = whyKept({ world, target, held, sources });
      return why ? [{ held, ...why }] : [];
    });
}

type Why = Omit<KeptPeer, "held">;

interface Question {
  readonly world: World;
  readonly target: ConnectionId;
  readonly held: HeldPeer;
  readonly sources: readonly Source[];
}

function whyKept({ world, target, held, sources }: Question): Why | undefined {
  if (held.owners.some((owner) => world.refused.has(owner))) return { reason: "MeshNotAccepted" };
  const owners = world.meshes.filter(({ mesh }) => held.owners.includes(mesh.id));
  if (owners.some((owner) => reachesElsewhere(world, owner, target))) return { reason: "OwnedElsewhere" };
  const living = sources.filter(({ mesh, source }) => source === held.source && held.owners.includes(mesh));
  return living.map((source) => whySourceKeeps(world, held, source)).find((why) => why !== undefined);
}

/** An owner may hold this cluster through credentials of its own: then its Peers here are that connection's business. */
function reachesElsewhere(world: World, owner: ConnectedMesh, target: ConnectionId): boolean {
  if (isIn(owner, target)) return false;
  const here = uidsOf(world, target);
  return [...owner.connections.values()].some((connection) => {
    const there = connection.state === "connected" ? uidsOf(world, connection.id) : undefined;
    return !here || !there || [...there].some((uid) => here.has(uid));
  });
}

function uidsOf(world: World, id: ConnectionId): Set<string> | undefined {
  const nodes = world.clusters.get(id)?.nodes;
  return nodes?.state === "known" ? new Set(nodes.items.map(({ uid }) => uid)) : undefined;
}

function whySourceKeeps(world: World, held: HeldPeer, { connected, entry }: Source): Why | undefined {
  const connection = connected.connections.get(entry.name);
  const observed = nodesBehind(world, connection);
  if (observed.state === "unknown" || connection?.state !== "connected") return { reason: "SourceUnknown" };
  const facts = observed.items.find(({ name }) => name === held.node);
  if (facts) {
    const node = admitNode(entry, facts);
    return node.kind === "skipped" && skipReasons[node.reason].waits ? { reason: "NodeNotReady" } : undefined;
  }
  const view = world.clusters.get(connection.id);
  const departure = view?.departures.find(({ name }) => name === held.node);
  if (departure?.afterMs === 0) return undefined;
  if (departure) return { reason: "NodeDeparting", afterMs: departure.afterMs, proof: connection.id };
  return view?.absenceProven ? undefined : { reason: "WithdrawalHeld", proof: connection.id };
}
