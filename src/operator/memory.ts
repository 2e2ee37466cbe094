import {
  type ClusterMeshObject,
  clusterMeshes,
  type MeshPolicy,
  type MeshRecord,
  readMesh,
  sameMeshRecord,
} from "../api/cluster-mesh.ts";
import type { DrainRow } from "../core/drain.ts";
import { type ConnectionId, localConnection, type MeshId } from "../core/ids.ts";
import { onceForBoth } from "../core/once-per.ts";
import { Recall } from "../core/recall.ts";
import { affectedTargets, clustersOf, isIn } from "../core/source.ts";
import type { TargetReport } from "../core/status.ts";
import { sameTwins, speakFor, type Twins } from "../core/twins.ts";
import type { World } from "../core/world.ts";
import { type Change, Informer } from "../kube/informer.ts";
import type { ClusterChange } from "../registry/connection.ts";
import { Registry, type RegistryOptions } from "../registry/registry.ts";
import { type Parting, Rotations } from "../registry/rotations.ts";
import { SecretWatches } from "../registry/secret-watches.ts";
import { sameTopology, type Topology } from "./connect-clusters.ts";
import { ListProof } from "./list-proof.ts";
import { NameResolver } from "./name-resolver.ts";
import { observe } from "./observe.ts";

export interface MemoryOptions extends Omit<RegistryOptions, "local" | "onChange"> {
  readonly client: RegistryOptions["local"];
  readonly instance: string;
  readonly policy: MeshPolicy;
  /** What becomes of the Go operator's Peers whose mesh is gone. */
  readonly legacyOrphans: "delete" | "report";
}

/** Who wants to be told of what. */
export interface MemoryListeners {
  readonly meshChanged: (change: Change<MeshRecord>) => void;
  readonly clusterChanged: (id: ConnectionId, change: ClusterChange) => void;
  /** Meshes or Secrets may lead to other connections now. */
  readonly wishesChanged: () => void;
  /** Something changed that every plan may depend on. */
  readonly worldChanged: () => void;
}

/** Everything the operator knows, kept up to date by watches, and the world that plans are made from. */
export class Memory {
  readonly meshes: Informer<ClusterMeshObject, MeshRecord>;
  readonly secrets: SecretWatches;
  readonly registry: Registry;
  readonly rotations: Rotations;
  readonly names: NameResolver;
  readonly meshLists: ListProof;
  /** What the last run of each target came to. */
  readonly reports = new Map<ConnectionId, TargetReport>();
  /** What a person may run in each cluster whose nodes we may not annotate. */
  readonly nodeCommands = new Map<ConnectionId, string>();
  readonly #options: MemoryOptions;
  readonly #speakers = new Map<ConnectionId, ConnectionId>();
  readonly #recalls = new Map<ConnectionId, Recall>();
  readonly #listeners: MemoryListeners;
  #topology: Topology | undefined;
  #twins: Twins = new Map();

  constructor(options: MemoryOptions, listeners: MemoryListeners) {
    const { client, clock, log } = options;
    this.#options = options;
    this.#listeners = listeners;
    const shared = { client, clock, log };
    const decode = (object: ClusterMeshObject): MeshRecord => readMesh(object, options.policy);
    this.meshes = new Informer({ ...shared, resource: clusterMeshes, decode, same: sameMeshRecord });
    this.meshes.onChange(listeners.meshChanged);
    this.meshes.onKnowledge(({ state }) => {
      listeners.wishesChanged();
      // Whoever looked meanwhile was shown nothing.
      if (state === "known") listeners.worldChanged();
    });
    const forSecrets = options.connect(localConnection, options.localConfig);
    this.secrets = new SecretWatches({ ...shared, client: forSecrets, onChange: listeners.wishesChanged });
    this.registry = new Registry({ ...options, local: client, onChange: listeners.clusterChanged });
    this.rotations = new Rotations(this.registry);
    this.names = new NameResolver({ clock, log, onChange: listeners.worldChanged });
    this.meshLists = new ListProof(this.meshes, clock, listeners.worldChanged);
  }

  get topology(): Topology | undefined {
    return this.#topology;
  }

  /** Undefined while the list is not known. */
  meshList(): readonly MeshRecord[] | undefined {
    return this.meshes.knowledge.state === "known" ? this.meshes.facts() : undefined;
  }

  /** True when it differs from what was settled before. */
  settle(topology: Topology): boolean {
    if (this.#topology && sameTopology(this.#topology, topology)) return false;
    this.#topology = topology;
    this.#recalls.clear();
    const open = new Set(this.registry.ids());
    for (const known of [this.reports, this.nodeCommands, this.#speakers])
      for (const id of known.keys()) if (!open.has(id)) known.delete(id);
    return true;
  }

  /** A connection was closed, and this is what was known of its cluster then. The rest is forgotten with it. */
  closed(id: ConnectionId, parting: Parting | undefined): void {
    this.rotations.closed(id, parting);
    this.names.follow(id, []);
    for (const known of [this.reports, this.nodeCommands, this.#speakers, this.#recalls]) known.delete(id);
  }

  /** What the plans of a target leave to the next one, while the spec is the same. */
  recallOf(target: ConnectionId): Recall {
    const recall = this.#recalls.get(target) ?? new Recall();
    this.#recalls.set(target, recall);
    return recall;
  }

  world(): World | undefined {
    const { instance, policy, legacyOrphans } = this.#options;
    const world = observe({
      instance,
      topology: this.#topology,
      registry: this.registry,
      resolved: this.names.answers,
      allowedCidrs: policy.allowedCidrs,
      ghostsMayGo: legacyOrphans === "delete" && this.meshLists.agree,
    });
    if (world) this.#follow(world.twins);
    return world;
  }

  /** Who speaks for whom, for what is heard until the next look. Whoever was planned from another is planned anew. */
  #follow(twins: Twins): void {
    if (sameTwins(this.#twins, twins)) return;
    this.#twins = twins;
    this.#listeners.worldChanged();
  }

  /** The clusters that receive the nodes of `id`, by the spec or because it speaks for the cluster that one leads to. */
  receiversOf(id: ConnectionId): Set<ConnectionId> {
    const { meshes = [] } = this.#topology ?? {};
    const spoken = spokenMeshes(meshes, this.#twins);
    return affectedTargets(spoken === meshes ? meshes : [...meshes, ...spoken], id);
  }

  /** What a plan may see: nothing while the list of meshes is not known. */
  worldToPlan(): World | undefined {
    return this.meshes.knowledge.state === "known" ? this.world() : undefined;
  }

  ledger(mesh: MeshId): readonly DrainRow[] {
    return this.#topology?.ledgers.get(mesh) ?? [];
  }

  /** True when that is news. */
  tellNodeCommand(id: ConnectionId, command: string | undefined): boolean {
    if (this.nodeCommands.get(id) === command) return false;
    if (command === undefined) this.nodeCommands.delete(id);
    else this.nodeCommands.set(id, command);
    return true;
  }

  /** Where a mesh leads, by its spec or by its ledger, and what speaks for those clusters. */
  connectionsOf(mesh: MeshId): Set<ConnectionId> {
    const connected = this.#topology?.meshes.find(({ mesh: { id } }) => id === mesh);
    const rows = this.ledger(mesh).flatMap(({ connection }) => (connection.state === "connected" ? connection.id : []));
    const ids = [...(connected ? clustersOf(connected) : []), ...rows];
    return new Set(ids.flatMap((id) => [id, this.#twins.get(id) ?? id]));
  }

  /** From now on `speaker` speaks for the cluster that `twin` leads to as well. */
  speaksFor(speaker: ConnectionId, twin: ConnectionId): void {
    this.#speakers.set(twin, speaker);
  }

  /** The meshes that lead to a cluster, by their spec or by their ledger, also through a twin of its connection. */
  meshesOf(id: ConnectionId): Set<MeshId> {
    const twins = [...this.#speakers].filter(([, speaker]) => speaker === id).map(([twin]) => twin);
    return new Set([id, ...twins].flatMap((each) => [...this.#meshesAt(each)]));
  }

  #meshesAt(id: ConnectionId): Set<MeshId> {
    const { meshes = [], ledgers = new Map<MeshId, readonly DrainRow[]>() } = this.#topology ?? {};
    const bySpec = meshes.filter((connected) => isIn(connected, id)).map(({ mesh }) => mesh.id);
    const byLedger = [...ledgers].filter(([, rows]) => rows.some((row) => leadsTo(row, id))).map(([mesh]) => mesh);
    return new Set([...bySpec, ...byLedger]);
  }
}

const spokenMeshes = onceForBoth(speakFor);

const leadsTo = ({ connection }: DrainRow, id: ConnectionId): boolean =>
  connection.state === "connected" && connection.id === id;
