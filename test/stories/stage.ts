import type { ClusterMeshObject } from "../../src/api/cluster-mesh.ts";
import type { PeerObject } from "../../src/api/kilo-peer.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import type { Facts, Letter, MeshFacts, NodeFacts } from "./facts.ts";
import type { Credential, PeerVerb } from "./ring.ts";

/** A credential that is about to be refused. */
export interface Ending {
  /** Resolves when the API server refuses it. */
  refused(): Promise<void>;
}

/** What a story may do and see. The same on every ring. */
export interface Stage {
  /** What the story has made so, up to now. */
  readonly facts: Facts;
  admin(cluster: Letter): KubeClient;

  /** Two nodes in each cluster, an operator in `a`, and no mesh. */
  furnish(): Promise<void>;
  /** The usual beginning: furnished, and one mesh over these clusters, all in order. Costs count from its end. */
  begin(clusters?: readonly Letter[]): Promise<MeshFacts>;
  /** Sets right what the stage cannot see by itself, such as who carries and who keeps which name. */
  assume(facts: Partial<Facts>): void;

  addNode(cluster: Letter, index: number, overrides?: Partial<NodeFacts>): Promise<NodeFacts>;
  deleteNode(name: string): Promise<void>;
  changeNode(name: string, change: Partial<NodeFacts>): Promise<void>;
  /** What a node that dies does: no sign of it any more, and its Node stays. */
  hushNode(name: string): void;
  /** What a Kilo that restarts or leaves does: its annotations go. What is expected stays the same. */
  stripNode(name: string): Promise<void>;
  /** Kilo writes its annotations again. */
  dressNode(name: string): Promise<void>;

  /** Creates the mesh with the Secrets it names, or gives it a new spec. */
  applyMesh(mesh: MeshFacts): Promise<void>;
  /** Writes a spec that is not what the facts say: they stay. */
  writeSpec(mesh: MeshFacts, spec: unknown): Promise<void>;
  deleteMesh(mesh: MeshFacts): Promise<void>;
  /** Takes the finalizers off first, as a person in a hurry does. */
  forceDeleteMesh(mesh: MeshFacts): Promise<void>;

  /** The Secret of this name in the mesh's namespace leads to `cluster` with a credential of its own. */
  putSecret(mesh: MeshFacts, secret: string, cluster: Letter): Promise<Credential>;
  /** The same with one that says that it has ended, and that is accepted for some seconds more. */
  putEndingSecret(mesh: MeshFacts, secret: string, cluster: Letter): Promise<Ending>;
  /** Any text as kubeconfig. */
  writeSecret(mesh: MeshFacts, secret: string, kubeconfig: string): Promise<void>;
  deleteSecret(mesh: MeshFacts, secret: string): Promise<void>;

  takeAway(cluster: Letter): Promise<void>;
  bringBack(cluster: Letter): Promise<void>;
  refusePeers(cluster: Letter, verb: PeerVerb): Promise<() => Promise<void>>;
  deletePeerType(cluster: Letter): Promise<void>;
  createPeerType(cluster: Letter): Promise<void>;

  /** Its clock is the ring's unless another factor is said. */
  startOperator(home?: Letter, clockFactor?: number): Promise<void>;
  stopOperator(home?: Letter): Promise<void>;
  /** One of several operators in `a` that take the Lease first, in the mesh's usual namespace. */
  startReplica(identity: string): Promise<void>;
  stopReplica(identity: string): Promise<void>;

  peer(cluster: Letter, name: string): Promise<PeerObject | undefined>;
  mesh(mesh: MeshFacts): Promise<ClusterMeshObject>;
  ready(mesh: MeshFacts): Promise<ReadyCondition>;
  /** Throws unless the clusters hold exactly the Peers that the facts ask for; all of them when not said. */
  holds(what?: { readonly clusters?: readonly Letter[]; readonly facts?: Facts }): Promise<void>;
  /** Resolves when every cluster holds the right Peers and every mesh says the truth about it. */
  synced(): Promise<void>;
  /** Repeats the check until it passes. */
  eventually<T>(check: () => T | Promise<T>): Promise<T>;
  /** Lets seconds of the operator's clock pass. */
  pass(seconds: number): Promise<void>;
  /** Resolves when the operators have nothing left to ask for. */
  settled(): Promise<void>;
  /** Resolves when the operators have heard what happened before, and have had the time to act on it. */
  heard(): Promise<void>;

  /** Measures an action in real seconds, for the story's line. Real servers have to do it in so many. */
  timed(what: string, mostSeconds: number, action: () => Promise<void>): Promise<void>;
  /** Costs are counted from here. */
  mark(): Promise<void>;
  costs(): Promise<Costs>;
}

export interface ReadyCondition {
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

/** Requests of all operators since the last mark, each as `cluster verb resource name`. */
export interface Costs {
  readonly peerWrites: readonly string[];
  /** Status, events, definitions: every other write but the Lease's. */
  readonly otherWrites: readonly string[];
  /** All but watches and the Lease. */
  readonly requests: readonly string[];
}
