import {
  type ClusterMeshObject,
  clusterMeshes,
  isMeshEdit,
  type MeshRecord,
  readMesh,
  sameMeshRecord,
} from "../api/cluster-mesh.ts";
import type { DrainRow } from "../core/drain.ts";
import type { ConnectionId, MeshId } from "../core/ids.ts";
import { affectedTargets, isIn } from "../core/source.ts";
import type { TargetReport } from "../core/status.ts";
import type { World } from "../core/world.ts";
import type { KubeClient } from "../kube/client.ts";
import type { ConnectionConfig } from "../kube/connection-config.ts";
import { EventRecorder } from "../kube/events.ts";
import { type Change, Informer } from "../kube/informer.ts";
import type { KubeconfigLicence } from "../kube/kubeconfig.ts";
import type { ClusterChange } from "../registry/connection.ts";
import { Registry } from "../registry/registry.ts";
import { SecretWatches } from "../registry/secret-watches.ts";
import type { Clock } from "../runtime/clock.ts";
import { runController } from "../runtime/controller.ts";
import type { Part } from "../runtime/lifecycle.ts";
import type { Logger } from "../runtime/log.ts";
import { done, type Outcome } from "../runtime/outcome.ts";
import { WorkQueue } from "../runtime/queue.ts";
import { applyChanges } from "./apply.ts";
import { connectClusters, sameTopology, type Topology } from "./connect-clusters.ts";
import { ListProof } from "./list-proof.ts";
import { leftoversEvent, readyEvent } from "./mesh-events.ts";
import { NameResolver } from "./name-resolver.ts";
import { observe } from "./observe.ts";
import { patchMesh } from "./patch-mesh.ts";

import { syncTarget } from "./sync-target.ts";
import { type TendPorts, tendMesh } from "./tend-mesh.ts";

/** What the operator needs from outside. */
export interface OperatorPorts {
  /** The cluster the operator runs in. */
  readonly client: KubeClient;
  readonly connect: (id: ConnectionId, config: ConnectionConfig) => KubeClient;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface OperatorOptions extends OperatorPorts {
  readonly instance: string;
  readonly allow: ReadonlySet<KubeconfigLicence>;
  /** What becomes of the Go operator's Peers whose mesh is gone. */
  readonly legacyOrphans?: "delete" | "report";
}

/** Changes of one target within this time become one burst: every burst makes Kilo replace all peers of a device. */
const coalesceMs = 20;
const writeBackoff = { firstMs: 200, maxMs: 60_000 };
const startingMs = 10_000;

/** The composition root: what is watched, and which of the three controllers each change wakes. */
export class Operator {
  readonly #options: OperatorOptions;
  readonly #meshes: Informer<ClusterMeshObject, MeshRecord>;
  readonly #secrets: SecretWatches;
  readonly #registry: Registry;
  readonly #events: EventRecorder;
  readonly #names: NameResolver;
  readonly #meshLists: ListProof;
  readonly #connects: WorkQueue<"clusters">;
  readonly #targets: WorkQueue<ConnectionId>;
  readonly #statuses: WorkQueue<MeshId>;
  readonly #reports = new Map<ConnectionId, TargetReport>();
  readonly #writtenAtMs = new Map<MeshId, number>();
  readonly #startedMs: number;
  #topology: Topology | undefined;

  constructor(options: OperatorOptions) {
    const { client, connect, clock, log } = options;
    this.#options = options;
    this.#startedMs = clock.now();
    const reporter = { controller: "kilo-clustermesh.io/operator", instance: options.instance };
    this.#events = new EventRecorder({ client, clock, log, reporter });
    this.#connects = new WorkQueue({ clock, parallel: 1 });
    this.#targets = new WorkQueue({ clock, parallel: 16, coalesceMs, backoff: writeBackoff });
    this.#statuses = new WorkQueue({ clock, parallel: 4, coalesceMs: 200 });
    this.#meshes = new Informer({
      client,
      clock,
      log,
      resource: clusterMeshes,
      decode: readMesh,
      same: sameMeshRecord,
    });
    this.#secrets = new SecretWatches({ client, clock, log, onChange: () => this.#connects.add("clusters") });
    this.#registry = new Registry({
      local: client,
      connect,
      clock,
      log,
      onChange: (id, change) => this.#clusterChanged(id, change),
    });
    this.#meshes.onChange((change) => this.#meshChanged(change));
    this.#meshes.onKnowledge(() => this.#connects.add("clusters"));
    this.#names = new NameResolver({ clock, log, onChange: () => this.#wakeTargets() });
    this.#meshLists = new ListProof(this.#meshes, clock, () => this.#wakeTargets());
  }

  /** In the order they start; they stop in reverse, so that the writers stop first. */
  parts(): Part[] {
    return [
      { name: "registry", start: () => this.#registry.start(), stop: () => this.#registry.stop() },
      { name: "names", start: () => undefined, stop: () => this.#names.stop() },
      { name: "secrets", start: () => undefined, stop: () => this.#secrets.stop() },
      { name: "meshes", start: () => this.#meshes.start(), stop: () => this.#meshes.stop() },
      { name: "events", start: () => undefined, stop: () => this.#events.stop() },
      { name: "tend-mesh", start: () => this.#runReports(), stop: () => this.#statuses.stop() },
      { name: "sync-target", start: () => this.#runTargets(), stop: () => this.#targets.stop() },
      { name: "connect-clusters", start: () => this.#runConnects(), stop: () => this.#connects.stop() },
    ];
  }

  #runConnects(): void {
    const reconcile = () =>
      connectClusters({
        meshes: () => this.#meshList(),
        secrets: this.#secrets,
        registry: this.#registry,
        allow: this.#options.allow,
        settle: (topology) => this.#settle(topology),
      });
    runController({ name: "connect-clusters", queue: this.#connects, log: this.#options.log, reconcile });
  }

  #runTargets(): void {
    const reconcile = async (target: ConnectionId): Promise<Outcome> => {
      if (!this.#registry.get(target)) return done;
      return syncTarget(target, {
        observe: () => this.#observe(),
        apply: async (id, changes) => {
          const connection = this.#registry.get(id);
          return connection ? applyChanges(changes, { ...this.#options, connection }) : ["not connected"];
        },
        record: (id, report) => this.#record(id, report),
        wake: (id) => this.#targets.add(id),
        resolve: (names) => this.#names.follow(names),
        proveGhosts: () => this.#meshLists.prove(),
        prove: (source) => this.#registry.get(source)?.proveAbsence(),
      });
    };
    runController({ name: "sync-target", queue: this.#targets, log: this.#options.log, reconcile });
  }

  #runReports(): void {
    const reconcile = (id: MeshId) => tendMesh(id, this.#tendPorts());
    runController({ name: "tend-mesh", queue: this.#statuses, log: this.#options.log, reconcile });
  }

  #tendPorts(): TendPorts {
    const { clock, log, client } = this.#options;
    return {
      mesh: (key) => this.#meshes.get(key),
      observe: () => this.#world(),
      reports: this.#reports,
      ledger: (id) => this.#topology?.ledgers.get(id) ?? [],
      clock,
      isStarting: () => clock.now() - this.#startedMs < startingMs,
      writtenAtMs: this.#writtenAtMs,
      patchMeta: (object, metadata) => patchMesh(client, object, { body: { metadata } }),
      patchStatus: (object, status) => patchMesh(client, object, { body: { status }, subresource: "status" }),
      tell: (object, ready) => {
        log.info("mesh status", { mesh: readMesh(object).id, reason: ready.reason, message: ready.message });
        this.#events.record(readyEvent(object, ready));
      },
      tellLeftovers: (object, clusters) => {
        log.warn("peers may be left", { mesh: readMesh(object).id, clusters });
        this.#events.record(leftoversEvent(object, clusters));
      },
    };
  }

  #meshList(): readonly MeshRecord[] | undefined {
    return this.#meshes.knowledge.state === "known" ? [...this.#meshes.entries()].map(([, mesh]) => mesh) : undefined;
  }

  #world(): World | undefined {
    const { instance, legacyOrphans = "delete" } = this.#options;
    return observe({
      instance,
      topology: this.#topology,
      registry: this.#registry,
      resolved: this.#names.answers,
      ghostsMayGo: legacyOrphans === "delete" && this.#meshLists.agree,
    });
  }

  /** What a target's plan may see: nothing while the list of meshes is not known. */
  #observe(): World | undefined {
    return this.#meshes.knowledge.state === "known" ? this.#world() : undefined;
  }

  #settle(topology: Topology): void {
    if (this.#topology && sameTopology(this.#topology, topology)) return;
    this.#topology = topology;
    const open = new Set(this.#registry.ids());
    for (const id of this.#reports.keys()) if (!open.has(id)) this.#reports.delete(id);
    this.#wakeTargets();
    for (const id of topology.ledgers.keys()) this.#statuses.add(id);
  }

  #wakeTargets(): void {
    for (const id of this.#registry.ids()) this.#targets.add(id);
  }

  #record(target: ConnectionId, report: TargetReport): void {
    this.#reports.set(target, report);
    this.#wakeMeshesOf(target);
  }

  #meshChanged({ key, before, after }: Change<MeshRecord>): void {
    if (isMeshEdit(before, after)) this.#connects.add("clusters");
    if (after) this.#statuses.add(key as MeshId);
  }

  /** The one line where a change in one cluster becomes work for others. */
  #clusterChanged(id: ConnectionId, change: ClusterChange): void {
    const meshes = this.#topology?.meshes ?? [];
    const isForOthers = change === "node" || change === "knowledge";
    if (isForOthers) for (const target of affectedTargets(meshes, id)) this.#targets.add(target);
    if (change !== "node") this.#targets.add(id);
    if (change === "knowledge") this.#wakeMeshesOf(id);
  }

  /** The meshes that lead to a cluster, by their spec or by their ledger. */
  #wakeMeshesOf(id: ConnectionId): void {
    const { meshes = [], ledgers = new Map<MeshId, readonly DrainRow[]>() } = this.#topology ?? {};
    for (const connected of meshes) if (isIn(connected, id)) this.#statuses.add(connected.mesh.id);
    for (const [mesh, rows] of ledgers) if (rows.some((row) => leadsTo(row, id))) this.#statuses.add(mesh);
  }
}

const leadsTo = ({ connection }: DrainRow, id: ConnectionId): boolean =>
  connection.state === "connected" && connection.id === id;
