import type { ConnectionConfig } from "../../kube/connection-config.ts";
import { inClusterConnection } from "../../kube/in-cluster.ts";
import type { Knowledge } from "../../kube/knowledge.ts";
import { backoffMs } from "../../runtime/backoff.ts";
import type { Clock } from "../../runtime/clock.ts";
import { Listeners } from "../../runtime/listeners.ts";
import type { Logger } from "../../runtime/log.ts";
import type { EndpointId } from "../identity.ts";
import { type DiscoveryReason, sliceNotes } from "../reasons.ts";
import { chooseNamespace, serviceAccountDirectory } from "./discovery-namespace.ts";
import { DiscoveryTroubles, unknownState } from "./discovery-troubles.ts";
import { type Discovery, type DiscoveryState, type Member, sameMembers } from "./member.ts";
import { IdPublisher } from "./publish-id.ts";
import { SliceWatch } from "./slice-watch.ts";
import { membersOf, type Note } from "./slices.ts";

export interface KubernetesDiscoveryOptions {
  /** Absent: the pod's own, else `default`. */
  readonly namespace?: string;
  readonly labelSelector: string;
  readonly annotationPrefix: string;
  /** How often everything is listed again, as a net under the watch. */
  readonly intervalMs: number;
  /** The port of a member whose slices name none that could be it: our own. */
  readonly defaultPort: number;
  readonly portName?: string;
  /** Keeps this id on the slices that hold the pod. Needs the right to patch them. */
  readonly publish?: { readonly podName: string; readonly endpointId: EndpointId };
  /** Told when the members changed, never twice the same. */
  readonly onMembers: (members: readonly Member[]) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly directory?: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random?: () => number;
}

/** Finds members in the EndpointSlices of the cluster that this process runs in. Starting cannot fail. */
export function startKubernetesDiscovery(options: KubernetesDiscoveryOptions): Discovery {
  const discovery = new KubernetesDiscovery(options);
  discovery.start();
  return discovery;
}

/** At least so often a connection that fails is compared with the pod's files. */
const followEveryMs = 30_000;
const connectBackoff = { firstMs: 1_000, maxMs: 30_000 };

class KubernetesDiscovery implements Discovery {
  readonly #options: KubernetesDiscoveryOptions;
  readonly #namespace: string;
  readonly #log: Logger;
  readonly #troubles: DiscoveryTroubles;
  readonly #listeners: Listeners<readonly Member[]>;
  readonly #notesTold = new Set<string>();
  readonly #stopped = new AbortController();
  #members: readonly Member[] = [];
  #watch: SliceWatch | undefined;
  #publisher: IdPublisher | undefined;
  #running: Promise<void> | undefined;
  #updateIsDue = false;

  constructor(options: KubernetesDiscoveryOptions) {
    const { namespace, from } = chooseNamespace(options.namespace, options.directory ?? serviceAccountDirectory);
    this.#options = options;
    this.#namespace = namespace;
    this.#log = options.log.with({ namespace });
    this.#troubles = new DiscoveryTroubles(this.#log);
    this.#listeners = new Listeners(this.#log);
    this.#listeners.add(options.onMembers);
    this.#log.info("kubernetes discovery starts", { namespaceFrom: from, labelSelector: options.labelSelector });
  }

  start(): void {
    this.#running ??= this.#run().catch((error) => {
      if (this.#stopped.signal.aborted) return;
      this.#log.error("kubernetes discovery failed", { stack: error instanceof Error ? error.stack : String(error) });
    });
  }

  members(): readonly Member[] {
    return this.#members;
  }

  state(): DiscoveryState {
    const knowledge = this.#watch?.knowledge;
    if (knowledge?.state !== "unknown" || !knowledge.error) return this.#troubles.state;
    return unknownState(reasonByKind[knowledge.reason], knowledge.error.message);
  }

  async close(): Promise<void> {
    this.#stopped.abort();
    this.#troubles.close();
    await this.#running;
    await this.#disconnect();
  }

  async #run(): Promise<void> {
    const { clock, intervalMs, random = Math.random } = this.#options;
    const { signal } = this.#stopped;
    for (let attempt = 0; !this.#connect(); attempt++)
      await clock.sleep(backoffMs(connectBackoff, attempt, random), signal);
    for (let relistAt = clock.now() + intervalMs; ; ) {
      await clock.sleep(Math.min(intervalMs, followEveryMs), signal);
      await this.#followConnection();
      if (clock.now() < relistAt) continue;
      this.#watch?.relistIfWell();
      relistAt = clock.now() + intervalMs;
    }
  }

  /** False when the pod's files or environment do not make a connection, yet. */
  #connect(): boolean {
    try {
      const config = this.#connectionConfig();
      this.#open(config);
      return true;
    } catch (error) {
      this.#troubles.report("NotInCluster", error instanceof Error ? error.message : String(error));
      return false;
    }
  }

  /** The authority's certificate may be replaced while we run; then only a new connection can get through. */
  async #followConnection(): Promise<void> {
    if (this.#watch?.knowledge.state !== "unknown") return;
    try {
      const config = this.#connectionConfig();
      if (this.#watch.isConnectedBy(config)) return;
      this.#log.info("the way to the API server changed, connecting again");
      await this.#disconnect();
      this.#open(config);
    } catch {
      // The files are gone for a moment, or unreadable: the connection that we have goes on trying.
    }
  }

  #connectionConfig(): ConnectionConfig {
    const { env, clock, directory = serviceAccountDirectory } = this.#options;
    return inClusterConnection({ env, clock, directory });
  }

  #open(config: ConnectionConfig): void {
    const { labelSelector, annotationPrefix, clock, publish, random = Math.random } = this.#options;
    const shared = { namespace: this.#namespace, annotationPrefix, clock, random, log: this.#log };
    const watch = new SliceWatch({
      ...shared,
      config,
      labelSelector,
      onChange: () => this.#updateSoon(),
      onKnowledge: (knowledge) => this.#knowledgeChanged(knowledge),
    });
    const learn = watch.learn.bind(watch);
    if (publish) this.#publisher = new IdPublisher({ ...shared, ...publish, client: watch.client, learn });
    this.#watch = watch;
    watch.start();
  }

  async #disconnect(): Promise<void> {
    const [watch, publisher] = [this.#watch, this.#publisher];
    this.#watch = undefined;
    this.#publisher = undefined;
    await publisher?.close();
    await watch?.stop();
  }

  /** A list brings many changes at once: they become one update. */
  #updateSoon(): void {
    if (this.#updateIsDue) return;
    this.#updateIsDue = true;
    queueMicrotask(() => {
      this.#updateIsDue = false;
      if (!this.#stopped.signal.aborted && this.#watch?.isListed) this.#update(this.#watch);
    });
  }

  #update(watch: SliceWatch): void {
    const { defaultPort, portName } = this.#options;
    const slices = watch.slices();
    const { members, notes } = membersOf(slices, { defaultPort, ...(portName && { portName }) });
    this.#publisher?.see(slices);
    this.#tellNotes(notes);
    if (sameMembers(this.#members, members)) return;
    this.#members = members;
    this.#listeners.tell(members);
  }

  #tellNotes(notes: readonly Note[]): void {
    const keys = notes.map(({ name, reason }) => `${reason} ${name}`);
    for (const told of this.#notesTold) if (!keys.includes(told)) this.#notesTold.delete(told);
    for (const { name, reason } of notes) {
      if (this.#notesTold.has(`${reason} ${name}`)) continue;
      this.#notesTold.add(`${reason} ${name}`);
      this.#log.warn("endpoint slice is not as it should be", { name, reason, hint: sliceNotes[reason].hint });
    }
  }

  #knowledgeChanged(knowledge: Knowledge): void {
    if (this.#stopped.signal.aborted || (knowledge.state === "unknown" && knowledge.reason === "stopped")) return;
    if (knowledge.state === "known") this.#troubles.end(knowledge.polling ? "WatchForbidden" : undefined);
    else this.#troubles.report(reasonByKind[knowledge.reason], knowledge.error?.message);
  }
}

const reasonByKind: Readonly<Record<Extract<Knowledge, { state: "unknown" }>["reason"], DiscoveryReason>> = {
  "not-yet-listed": "Starting",
  unreachable: "Unreachable",
  timeout: "Unreachable",
  unauthorized: "Unauthorized",
  forbidden: "Forbidden",
  "not-found": "NotFound",
  invalid: "Refused",
  "too-many-requests": "Throttled",
  gone: "ServerFailed",
  conflict: "ServerFailed",
  "already-exists": "ServerFailed",
  server: "ServerFailed",
  stopped: "Closed",
};
