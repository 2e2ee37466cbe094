import type { Cidr } from "./cidr.ts";
import type { Observed } from "./discovered.ts";
import type { ClusterName, ConnectionId, MeshId, NodeName, PeerName } from "./ids.ts";
import type { Mesh } from "./mesh.ts";
import type { NodeFacts } from "./node.ts";
import type { HeldPeer } from "./peer.ts";
import type { UnknownReason } from "./reasons.ts";
import type { Twins } from "./twins.ts";

/**
 * What we know of something we watch. Unknown is not empty: nothing is deleted on the word of an unknown. The list is the
 * same object while nothing in it changed.
 */
export type Observation<T> =
  | { readonly state: "known"; readonly items: readonly T[] }
  | { readonly state: "unknown"; readonly reason: UnknownReason; readonly detail?: string };

/** A node that left the list. */
export interface Departure {
  readonly name: NodeName;
  /** When the proof that it is gone may be complete; 0 when it is. */
  readonly afterMs: number;
  /** Only another complete list can prove it. */
  readonly needsList: boolean;
}

export type Ages = Pick<ReadonlyMap<PeerName, number>, "get">;

/** One connected cluster at one moment. Nothing in it changes later: plans keep what follows from it. */
export interface ClusterView {
  readonly nodes: Observation<NodeFacts>;
  readonly peers: Observation<HeldPeer>;
  readonly departures: readonly Departure[];
  /** For how long nodes that are listed have been without Kilo's key or address. */
  readonly strippedMs: ReadonlyMap<NodeName, number>;
  /** Nodes on which Kilo ran and of which nothing was heard for too long. */
  readonly silent: ReadonlySet<NodeName>;
  /** From where its nodes have met public keys. */
  readonly observed: Observed;
  /** For how long we have seen Peers in the step of a move that they are marked with. */
  readonly moveAgesMs: Ages;
  /** How long ago we wrote the endpoint that a Peer still has; what was written before our start is not in it. */
  readonly endpointAgesMs: Ages;
  /** Two complete lists, far enough apart, agree: a node that was in neither is gone. */
  readonly absenceProven: boolean;
  /** What is listed every 30 seconds because the right to watch it is missing, as RBAC writes it; absent when nothing is. */
  readonly polled?: readonly string[];
  /** When a write there was last forbidden, on the monotonic clock; absent where none was, or one went through since. */
  readonly forbiddenAtMs?: number;
  /** Who vouches for its API server, as far as that is known: Node UIDs anybody can write. */
  readonly trust?: string;
  /** When the credential that leads there ends, in milliseconds since 1970; absent where it does not say. */
  readonly credentialEndsAtMs?: number;
  /** For how long it was given, where it says so. */
  readonly credentialLifetimeMs?: number;
}

export type EntryConnection =
  | { readonly state: "connected"; readonly id: ConnectionId }
  | { readonly state: "unknown"; readonly reason: UnknownReason; readonly detail?: string };

/** A mesh and where each of its entries leads. */
export interface ConnectedMesh {
  readonly mesh: Mesh;
  readonly connections: ReadonlyMap<ClusterName, EntryConnection>;
  /** Entries for whose cluster another connection speaks, each with the connection of its own Secret. */
  readonly spokenFor?: ReadonlyMap<ClusterName, ConnectionId>;
  /** Where entries led before their Secret changed, while those connections are still open. */
  readonly before?: ReadonlyMap<ClusterName, ConnectionId>;
  /** The clusters that its ledger names: it may put its first Peer only there. */
  readonly ledger: ReadonlySet<ConnectionId>;
}

/** A mesh that goes: what its Peers may be known by where nobody has stamped them, and in which clusters. */
export interface DrainingMesh {
  readonly id: MeshId;
  readonly name: string;
  readonly sources: readonly ClusterName[];
  readonly clusters: readonly ConnectionId[];
}

/** Everything one planning pass may look at. Nothing in it changes later: who knows more makes another world. */
export interface World {
  /** Marks the Peers of this operator. Two operators that share a target never touch each other's. */
  readonly instance: string;
  /** Stands for the spec: the same object while nothing in it changed. */
  readonly spec: object;
  readonly meshes: readonly ConnectedMesh[];
  /** Connections that must not be planned: another one speaks for their cluster. */
  readonly twins: Twins;
  /** Connections that no mesh asks for any more: open for a while, only to be emptied. */
  readonly leaving: ReadonlySet<ConnectionId>;
  /** Meshes whose deletion was asked for and which wait until their Peers are gone. */
  readonly draining: readonly DrainingMesh[];
  /** Meshes that exist and cannot be used as they are: their Peers are kept. */
  readonly refused: ReadonlySet<MeshId>;
  readonly clusters: ReadonlyMap<ConnectionId, ClusterView>;
  /** What routes may lie in. Empty: anywhere. */
  readonly allowedCidrs: readonly Cidr[];
  /** Two complete lists of the meshes agree: Peers of the Go operator whose mesh is in neither may go. */
  readonly ghostsMayGo: boolean;
  /** Hosts of the API servers that we use: addresses and names. */
  readonly servers: readonly string[];
  /** Names of endpoints and their addresses, IPv4 first; what could not be resolved is not in it. */
  readonly resolved: ReadonlyMap<string, readonly string[]>;
  /** SHA-256 of a text, in hex. */
  readonly digest: (text: string) => string;
}

/** The nodes behind an entry; unknown when its connection is. */
export function nodesBehind(world: World, connection: EntryConnection | undefined): Observation<NodeFacts> {
  if (!connection) return { state: "unknown", reason: "Connecting" };
  if (connection.state === "unknown") return connection;
  return world.clusters.get(connection.id)?.nodes ?? { state: "unknown", reason: "Connecting" };
}
