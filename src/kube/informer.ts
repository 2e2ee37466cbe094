import type { BackoffRange } from "../runtime/backoff.ts";
import type { Clock } from "../runtime/clock.ts";
import { Listeners } from "../runtime/listeners.ts";
import type { Logger } from "../runtime/log.ts";
import type { KubeClient } from "./client.ts";
import { type Knowledge, KnowledgeTracker } from "./knowledge.ts";
import { type Change, LocalCopy, type LocalCopyOptions } from "./local-copy.ts";
import type { KubeObject, ObjectRef } from "./object.ts";
import { Progress } from "./progress.ts";
import type { ReadFailures } from "./read-failures.ts";
import { Reflector, type ReflectorSink } from "./reflector.ts";
import type { Resource } from "./resource.ts";

export type { Knowledge, UnknownReason } from "./knowledge.ts";
export type { Change } from "./local-copy.ts";

export interface InformerOptions<T extends KubeObject, F> extends Pick<LocalCopyOptions<T, F>, "decode" | "same"> {
  readonly client: KubeClient;
  readonly resource: Resource<T>;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random?: () => number;
  /** Default 500. */
  readonly pageSize?: number;
  /** A server that tells of more is not believed. Default 50,000. */
  readonly mostObjects?: number;
  /** Each watch picks one between the two. Default 300–600. */
  readonly watchTimeoutSeconds?: { readonly min: number; readonly max: number };
  /** A net under the watch for events that a server loses. Off by default. */
  readonly relistEveryMs?: number;
  readonly backoff?: BackoffRange;
}

const defaultBackoff: BackoffRange = { firstMs: 200, maxMs: 30_000 };
const defaultWatchTimeoutSeconds = { min: 300, max: 600 };
const graceMs = 2_000;

/**
 * A local copy of one kind of object in one cluster, kept up to date by list and watch, and honest about whether it
 * is. Listeners are called synchronously, after the copy has changed.
 */
export class Informer<T extends KubeObject, F> {
  readonly #options: InformerOptions<T, F>;
  readonly #log: Logger;
  readonly #copy: LocalCopy<T, F>;
  readonly #progress: Progress;
  readonly #knowledge: KnowledgeTracker;
  readonly #reflector: Reflector<T>;
  readonly #changes: Listeners<Change<F>>;
  readonly #knowledgeChanges: Listeners<Knowledge>;
  readonly #lists: Listeners<void>;
  readonly #stopped = new AbortController();
  #running: Promise<void> | undefined;
  #listCount = 0;
  #lastCompleteListAt: number | undefined;

  constructor(options: InformerOptions<T, F>) {
    const { clock, client, resource, decode, same } = options;
    this.#options = options;
    this.#log = options.log.with({ cluster: client.cluster, resource: resource.plural });
    this.#progress = new Progress(clock);
    this.#changes = new Listeners(this.#log);
    this.#knowledgeChanges = new Listeners(this.#log);
    this.#lists = new Listeners(this.#log);
    this.#knowledge = new KnowledgeTracker({ clock, graceMs, onChange: (knowledge) => this.#tellKnowledge(knowledge) });
    const onChange = (change: Change<F>): void => this.#changes.tell(change);
    this.#copy = new LocalCopy({ decode, same, clock, log: this.#log, progress: this.#progress, onChange });
    this.#reflector = this.#createReflector();
  }

  /** Begins to list and watch. A second call, or one after `stop`, does nothing. */
  start(): void {
    if (this.#running || this.#stopped.signal.aborted) return;
    this.#running = Promise.all([this.#reflector.run(), this.#relistNowAndThen()]).then(() => undefined);
  }

  /** Ends it for good. The facts stay readable, as unknown. */
  async stop(): Promise<void> {
    if (!this.#stopped.signal.aborted) {
      this.#stopped.abort();
      this.#reflector.stop();
      this.#progress.close();
      this.#knowledge.stop();
    }
    await this.#running;
  }

  get knowledge(): Knowledge {
    return this.#knowledge.current;
  }

  get size(): number {
    return this.#copy.size;
  }

  get(key: string): F | undefined {
    return this.#copy.get(key)?.fact;
  }

  /** The version of the object that we last heard of. */
  versionOf(key: string): string | undefined {
    return this.#copy.get(key)?.resourceVersion;
  }

  entries(): Iterable<readonly [string, F]> {
    return this.#copy.entries();
  }

  /** All of them; the same list while none of them changes. */
  facts(): readonly F[] {
    return this.#copy.facts();
  }

  /** When the object was last heard of, on the monotonic clock. Events with equal facts count. */
  heardAt(key: string): number | undefined {
    return this.#copy.get(key)?.heardAt;
  }

  /** How many watch streams have ended. While it stays the same, nothing was missed between two events. */
  get streamsEnded(): number {
    return this.#reflector.streamsEnded;
  }

  get readFailures(): ReadFailures {
    return this.#reflector.readFailures;
  }

  get listCount(): number {
    return this.#listCount;
  }

  get lastCompleteListAt(): number | undefined {
    return this.#lastCompleteListAt;
  }

  onChange(listener: (change: Change<F>) => void): () => void {
    return this.#changes.add(listener);
  }

  onKnowledge(listener: (knowledge: Knowledge) => void): () => void {
    return this.#knowledgeChanges.add(listener);
  }

  /** Told after every complete list, when its changes have been told. */
  onListed(listener: () => void): () => void {
    return this.#lists.add(listener);
  }

  /** Folds the answer of our own write in, unless something newer is stored. */
  learn(object: T): void {
    if (!this.#stopped.signal.aborted) this.#copy.learn(object);
  }

  /** Our own deletion succeeded: events from before it no longer bring the object back. */
  learnDeleted(ref: ObjectRef, resourceVersion?: string): void {
    if (!this.#stopped.signal.aborted) this.#copy.learnDeleted(ref, resourceVersion);
  }

  /** True when list or watch have come to `resourceVersion`, false after `withinMs` or when stopped. */
  reached(resourceVersion: string, withinMs: number): Promise<boolean> {
    return this.#progress.reached(resourceVersion, withinMs);
  }

  /** Asks for a fresh complete list now; a backoff in progress is skipped. */
  relist(): void {
    this.#reflector.relist();
  }

  #createReflector(): Reflector<T> {
    const { client, resource, clock, random, pageSize, mostObjects, watchTimeoutSeconds, backoff } = this.#options;
    return new Reflector({
      client,
      resource,
      clock,
      log: this.#log,
      random: random ?? Math.random,
      pageSize: pageSize ?? 500,
      mostObjects: mostObjects ?? 50_000,
      watchTimeoutSeconds: watchTimeoutSeconds ?? defaultWatchTimeoutSeconds,
      backoff: backoff ?? defaultBackoff,
      selection: selectionOf(this.#options),
      progress: this.#progress,
      knowledge: this.#knowledge,
      sink: this.#createSink(),
    });
  }

  #createSink(): ReflectorSink<T> {
    const copy = this.#copy;
    return {
      beginList: () => copy.beginList(),
      addPage: (items) => {
        this.#knowledge.progressed();
        copy.addPage(items);
      },
      endList: (resourceVersion, askedAt) => this.#endList(resourceVersion, askedAt),
      afterList: () => this.#lists.tell(),
      apply: (event) => copy.apply(event),
      isKnown: (line) => copy.isKnown(line),
      startOver: () => copy.startOver(),
      get size() {
        return copy.size;
      },
    };
  }

  async #relistNowAndThen(): Promise<void> {
    const { relistEveryMs, clock } = this.#options;
    if (relistEveryMs === undefined) return;
    try {
      for (;;) {
        await clock.sleep(relistEveryMs, this.#stopped.signal);
        this.relist();
      }
    } catch {
      // Stopped.
    }
  }

  #endList(resourceVersion: string, askedAt: number): void {
    this.#listCount++;
    this.#lastCompleteListAt = this.#options.clock.now();
    this.#copy.endList(resourceVersion, askedAt);
  }

  #tellKnowledge(knowledge: Knowledge): void {
    if (knowledge.state === "known") this.#log.info("known", { polling: knowledge.polling ?? false });
    else if (knowledge.reason !== "stopped")
      this.#log.warn("unknown", { reason: knowledge.reason, error: knowledge.error?.message });
    this.#knowledgeChanges.tell(knowledge);
  }
}

function selectionOf<T extends KubeObject, F>(options: InformerOptions<T, F>) {
  const { namespace, labelSelector, fieldSelector } = options;
  return {
    ...(namespace !== undefined && { namespace }),
    ...(labelSelector !== undefined && { labelSelector }),
    ...(fieldSelector !== undefined && { fieldSelector }),
  };
}
