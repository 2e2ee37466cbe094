import { type ClusterMeshObject, clusterMeshes } from "../api/cluster-mesh.ts";
import { type ClusterName, type ConnectionId, type MeshId, meshId } from "../core/ids.ts";
import { type Leftover, replacedText } from "../core/release.ts";
import { hasNewSource } from "../core/status.ts";
import type { KubeClient } from "../kube/client.ts";
import type { ConnectionConfig } from "../kube/connection-config.ts";
import { EventRecorder } from "../kube/events.ts";
import type { KubeconfigLicence } from "../kube/kubeconfig.ts";
import { informerSummary } from "../registry/summary.ts";
import type { Clock } from "../runtime/clock.ts";
import { runController } from "../runtime/controller.ts";
import type { Part } from "../runtime/lifecycle.ts";
import type { Logger } from "../runtime/log.ts";
import { done, type Outcome } from "../runtime/outcome.ts";
import type { WorkQueue } from "../runtime/queue.ts";
import { annotateNodes } from "./annotate-nodes.ts";
import { applyChanges } from "./apply.ts";
import { connectClusters, type Topology } from "./connect-clusters.ts";
import { Contest } from "./contest.ts";
import { EventLimit } from "./event-limit.ts";
import { leaveCluster } from "./leave-cluster.ts";
import { Memory, type MemoryOptions } from "./memory.ts";
import { eventAbout, leftoversEvent, type MeshEvent } from "./mesh-events.ts";
import { clusterNames, counting, type OperatorMetrics } from "./operator-metrics.ts";
import type { OperatorState } from "./operator-state.ts";
import { patchMesh } from "./patch-mesh.ts";
import { Reactions } from "./reactions.ts";
import { syncTarget } from "./sync-target.ts";
import { type TendPorts, tendMesh } from "./tend-mesh.ts";
import { WakeUps } from "./wake-ups.ts";

/** What the operator needs from outside. */
export interface OperatorPorts {
  /** The cluster the operator runs in. */
  readonly client: KubeClient;
  /** What its client was made from. */
  readonly localConfig: ConnectionConfig;
  readonly connect: (id: ConnectionId, config: ConnectionConfig) => KubeClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: OperatorMetrics;
}

export interface OperatorOptions extends OperatorPorts, MemoryOptions {
  readonly allow: ReadonlySet<KubeconfigLicence>;
  readonly nodeKeepaliveSeconds: number;
}

/** The composition root: four controllers and what each of them works with. */
export class Operator {
  readonly #options: OperatorOptions;
  readonly #memory: Memory;
  readonly #events: EventRecorder;
  readonly #eventLimit: EventLimit;
  readonly #contest: Contest;
  readonly #reactions: Reactions;
  readonly #wakeUps: WakeUps;
  readonly #written: TendPorts["written"] = new Map();
  readonly #startedMs: number;

  constructor(options: OperatorOptions) {
    const { client, clock, log, metrics } = options;
    this.#options = options;
    this.#startedMs = clock.now();
    this.#eventLimit = new EventLimit(clock);
    this.#contest = new Contest(clock);
    this.#reactions = new Reactions({ clock, onReaction: (target, ms) => metrics.reacted(target, ms) });
    const reporter = { controller: "kilo-clustermesh.io/operator", instance: options.instance };
    this.#events = new EventRecorder({ client, clock, log, reporter });
    this.#memory = new Memory(options, {
      meshChanged: (change) => {
        // Also of one that somebody deletes by force: the next of that name is another mesh.
        if (!change.after) this.#written.delete(change.key as MeshId);
        this.#wakeUps.meshChanged(change);
      },
      clusterChanged: (id, change) => this.#wakeUps.clusterChanged(id, change),
      wishesChanged: () => this.#wakeUps.connects.add("clusters"),
      worldChanged: () => this.#wakeUps.wakeTargets(),
    });
    this.#wakeUps = new WakeUps({ clock, memory: this.#memory, reactions: this.#reactions });
  }

  /** In the order they start; they stop in reverse, so that the writers stop first. */
  parts(): Part[] {
    const { registry, names, secrets, meshes, meshLists } = this.#memory;
    const { connects, targets, nodes, statuses } = this.#wakeUps;
    return [
      { name: "registry", start: () => registry.start(), stop: () => registry.stop() },
      { name: "names", start: () => undefined, stop: () => names.stop() },
      { name: "mesh-lists", start: () => undefined, stop: () => meshLists.stop() },
      { name: "secrets", start: () => secrets.start(), stop: () => secrets.stop() },
      { name: "meshes", start: () => meshes.start(), stop: () => meshes.stop() },
      { name: "events", start: () => undefined, stop: () => this.#events.stop() },
      this.#controller("tend-mesh", statuses, (id) => tendMesh(id, this.#tendPorts())),
      this.#controller("annotate-nodes", nodes, (id) => this.#annotate(id)),
      this.#controller("sync-target", targets, (id) => this.#sync(id)),
      this.#controller("connect-clusters", connects, () => this.#connect()),
    ];
  }

  /** What others may look at while the operator runs. */
  state(): OperatorState {
    const { meshes, secrets, registry, reports } = this.#memory;
    return {
      instance: this.#options.instance,
      knowledge: () => meshes.knowledge,
      wasListed: () => meshes.lastCompleteListAt !== undefined,
      meshes: () => meshes.facts(),
      topology: () => this.#memory.topology,
      connections: () => registry.summaries(),
      reports,
      informers: () => [informerSummary(clusterMeshes, meshes), secrets.summary()],
      queues: {
        "connect-clusters": this.#wakeUps.connects,
        "sync-target": this.#wakeUps.targets,
        "annotate-nodes": this.#wakeUps.nodes,
        "tend-mesh": this.#wakeUps.statuses,
      },
      eventsDropped: () => this.#events.dropped + this.#eventLimit.heldBack,
    };
  }

  #controller<Key extends string>(
    name: string,
    queue: WorkQueue<Key>,
    reconcile: (key: Key) => Promise<Outcome>,
  ): Part {
    const { log, metrics } = this.#options;
    return {
      name,
      start: () => runController({ ...counting(name, metrics), queue, log, reconcile }),
      stop: () => queue.stop(),
    };
  }

  #connect(): Promise<Outcome> {
    const { secrets, registry, rotations } = this.#memory;
    return connectClusters({
      meshes: () => this.#memory.meshList(),
      secrets,
      registry,
      rotations,
      allow: this.#options.allow,
      settle: (topology) => this.#settle(topology),
    });
  }

  async #sync(target: ConnectionId): Promise<Outcome> {
    const { registry, names, meshLists, reports } = this.#memory;
    const connection = registry.get(target);
    // While it is listed for the first time there is nothing to say of it; the end of that wakes it, however it ends.
    const isListed = !registry.isConnecting(target);
    if (!isListed) this.#reactions.forget(target);
    if (!connection) return done;
    const ports = this.#reactions.measured(target, {
      observe: () => this.#memory.worldToPlan(),
      recall: this.#memory.recallOf(target),
      apply: (id, changes) =>
        this.#contest.guard(id, changes, (free) => applyChanges(free, { ...this.#options, connection })),
      announce: (id, report) => {
        const before = reports.get(id);
        if (hasNewSource(report.plan, before?.plan)) reports.set(id, { refusals: before?.refusals ?? [], ...report });
      },
      record: (id, report) => {
        reports.set(id, report);
        this.#wakeUps.wakeMeshesOf(id);
      },
      wake: (id) => {
        this.#memory.speaksFor(id, target);
        this.#wakeUps.targets.add(id);
      },
      resolve: (wanted) => names.follow(target, wanted),
      proveGhosts: () => meshLists.prove(),
      prove: (source) => registry.get(source)?.proveAbsence(),
    });
    const outcome = isListed ? await syncTarget(target, ports) : done;
    return leaveCluster(target, outcome, {
      observe: () => this.#memory.worldToPlan(),
      registry,
      closed: (id, parting, left) => {
        for (const { mesh, source } of left) this.#tellReplaced(mesh, source);
        this.#memory.closed(id, parting);
        this.#nameSeries();
        this.#wakeUps.connects.add("clusters");
      },
    });
  }

  #annotate(cluster: ConnectionId): Promise<Outcome> {
    return annotateNodes(cluster, {
      observe: () => this.#memory.worldToPlan(),
      connection: (id) => this.#memory.registry.get(id),
      flagSeconds: this.#options.nodeKeepaliveSeconds,
      tell: (id, command) => {
        if (this.#memory.tellNodeCommand(id, command)) this.#wakeUps.wakeMeshesOf(id);
      },
      log: this.#options.log,
    });
  }

  #tendPorts(): TendPorts {
    const { clock, client } = this.#options;
    return {
      mesh: (key) => this.#memory.meshes.get(key),
      observe: () => this.#memory.world(),
      reports: this.#memory.reports,
      nodeCommands: this.#memory.nodeCommands,
      ledger: (id) => this.#memory.ledger(id),
      clock,
      uptimeMs: () => clock.now() - this.#startedMs,
      written: this.#written,
      patchMeta: (object, metadata) => patchMesh(client, object, { body: { metadata } }),
      patchStatus: (object, status, resourceVersion) => {
        const metadata = resourceVersion === undefined ? {} : { metadata: { resourceVersion } };
        return patchMesh(client, object, { body: { ...metadata, status }, subresource: "status" });
      },
      tell: (object, events) => this.#tell(object, events),
      tellLeftovers: (object, leftovers) => this.#tellLeftovers(object, leftovers),
    };
  }

  /** Nothing leads there any more, and it could not be emptied in time. */
  #tellReplaced(mesh: MeshId, cluster: ClusterName): void {
    const record = this.#memory.meshes.get(mesh);
    if (record) this.#tellLeftovers(record.object, [{ cluster, why: replacedText }]);
  }

  #tellLeftovers(object: ClusterMeshObject, leftovers: readonly Leftover[]): void {
    const { log, metrics } = this.#options;
    const clusters = leftovers.map(({ cluster }) => cluster);
    log.warn("peers may be left", { mesh: idOf(object), leftovers });
    this.#events.record(leftoversEvent(object, leftovers));
    metrics.leftovers(idOf(object), clusters);
  }

  #tell(object: ClusterMeshObject, events: readonly MeshEvent[]): void {
    const id = idOf(object);
    for (const { isReady, reason, note } of events)
      this.#options.log.info(isReady ? "mesh status" : "mesh event", { mesh: id, reason, message: note });
    for (const event of this.#eventLimit.pass(id, events)) this.#events.record(eventAbout(object, event));
  }

  #settle(topology: Topology): void {
    if (!this.#memory.settle(topology)) return;
    this.#nameSeries();
    this.#wakeUps.wakeTargets();
    for (const id of topology.ledgers.keys()) this.#wakeUps.statuses.add(id);
  }

  /** Also when a connection was closed: what it had still to do was counted after its last name was gone. */
  #nameSeries(): void {
    const { topology } = this.#memory;
    if (topology) this.#options.metrics.named(clusterNames(topology));
  }
}

const idOf = ({ metadata: { namespace = "", name } }: ClusterMeshObject): MeshId => meshId(namespace, name);
