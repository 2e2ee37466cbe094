import type { BackoffRange } from "../runtime/backoff.ts";
import type { Clock } from "../runtime/clock.ts";
import { Listeners } from "../runtime/listeners.ts";
import type { Logger } from "../runtime/log.ts";
import type { KubeClient } from "./client.ts";
import { FactDecoder } from "./fact-decoder.ts";
import { type Knowledge, KnowledgeTracker } from "./knowledge.ts";
import { type KubeObject, keyOf, type ObjectRef } from "./object.ts";
import { OwnWrites } from "./own-writes.ts";
import { Progress } from "./progress.ts";
import type { ReadFailures } from "./read-failures.ts";
import { Reflector } from "./reflector.ts";
import type { Resource } from "./resource.ts";
import { Store, type StoreChange, type StoreEntry } from "./store.ts";
import type { WatchEvent } from "./watch.ts";

export type { Knowledge, UnknownReason } from "./knowledge.ts";

export interface InformerOptions<T extends KubeObject, F> {
  readonly client: KubeClient;
  readonly resource: Resource<T>;
  /** Takes what is needed out of the object, which is dropped here. */
  readonly decode: (object: T) => F;
  readonly same: (before: F, after: F) => boolean;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random?: () => number;
  /** Default 500. */
  readonly pageSize?: number;
  /** Each watch picks one between the two. Default 300–600. */
  readonly watchTimeoutSeconds?: { readonly min: number; readonly max: number };
  /** A net under the watch for events that a server loses. Off by default. */
  readonly relistEveryMs?: number;
  readonly backoff?: BackoffRange;
}

export interface Change<F> {
  readonly key: string;
  readonly before?: F;
  readonly after?: F;
  /** Why `after` is absent: we were told of the deletion, or a complete list did not hold the object. */
  readonly gone?: "deleted" | "absent";
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
  readonly #store: Store<F>;
  readonly #progress: Progress;
  readonly #knowledge: KnowledgeTracker;
  readonly #reflector: Reflector<T>;
  readonly #changes: Listeners<Change<F>>;
  readonly #knowledgeChanges: Listeners<Knowledge>;
  readonly #lists: Listeners<void>;
  readonly #stopped = new AbortController();
  readonly #decoder: FactDecoder<T, F>;
  readonly #ownWrites: OwnWrites;
  #listing = new Map<string, StoreEntry<F>>();
  #running: Promise<void> | undefined;
  #listCount = 0;
  #lastCompleteListAt: number | undefined;

  constructor(options: InformerOptions<T, F>) {
    const { clock, client, resource } = options;
    this.#options = options;
    this.#log = options.log.with({ cluster: client.cluster, resource: resource.plural });
    this.#store = new Store(options.same);
    this.#decoder = new FactDecoder(options.decode, this.#log);
    this.#progress = new Progress(clock);
    this.#ownWrites = new OwnWrites(this.#progress);
    this.#changes = new Listeners(this.#log);
    this.#knowledgeChanges = new Listeners(this.#log);
    this.#lists = new Listeners(this.#log);
    this.#knowledge = new KnowledgeTracker({ clock, graceMs, onChange: (knowledge) => this.#tellKnowledge(knowledge) });
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
    return this.#store.size;
  }

  get(key: string): F | undefined {
    return this.#store.get(key)?.fact;
  }

  entries(): Iterable<readonly [string, F]> {
    return this.#store.entries();
  }

  /** All of them; the same list while none of them changes. */
  facts(): readonly F[] {
    return this.#store.facts();
  }

  /** When the object was last heard of, on the monotonic clock. Events with equal facts count. */
  heardAt(key: string): number | undefined {
    return this.#store.get(key)?.heardAt;
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
    if (this.#stopped.signal.aborted) return;
    const { metadata } = object;
    const { resourceVersion = "" } = metadata;
    this.#put(object, resourceVersion);
    if (this.#isEcho(keyOf(metadata), resourceVersion)) this.#ownWrites.add(metadata);
  }

  /** Our own deletion succeeded: events from before it no longer bring the object back. */
  learnDeleted(ref: ObjectRef, resourceVersion?: string): void {
    if (this.#stopped.signal.aborted) return;
    const key = keyOf(ref);
    const version = resourceVersion ?? this.#store.get(key)?.resourceVersion;
    if (version === undefined || this.#isReplay(key, version)) return;
    this.#tell(this.#store.remove(key, { resourceVersion: version, at: this.#options.clock.now() }, true), "deleted");
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
    const { client, resource, clock, random, pageSize, watchTimeoutSeconds, backoff } = this.#options;
    return new Reflector({
      client,
      resource,
      clock,
      log: this.#log,
      random: random ?? Math.random,
      pageSize: pageSize ?? 500,
      watchTimeoutSeconds: watchTimeoutSeconds ?? defaultWatchTimeoutSeconds,
      backoff: backoff ?? defaultBackoff,
      selection: selectionOf(this.#options),
      progress: this.#progress,
      knowledge: this.#knowledge,
      sink: {
        beginList: () => this.#listing.clear(),
        addPage: (items) => this.#addPage(items),
        endList: (resourceVersion, askedAt) => this.#endList(resourceVersion, askedAt),
        afterList: () => this.#lists.tell(),
        apply: (event) => this.#apply(event),
        isKnown: (line) => this.#ownWrites.areRepeatedBy(line),
        startOver: () => this.#store.forgetVersions(),
      },
    });
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

  #addPage(items: readonly T[]): void {
    for (const item of items) {
      const key = keyOf(item.metadata);
      const entry = this.#read(key, item, item.metadata.resourceVersion ?? "");
      if (entry) this.#listing.set(key, entry);
    }
  }

  #endList(resourceVersion: string, askedAt: number): void {
    const entries = this.#listing;
    this.#listing = new Map();
    this.#listCount++;
    this.#lastCompleteListAt = this.#options.clock.now();
    this.#ownWrites.clear();
    for (const change of this.#store.replaceAll({ entries, resourceVersion, askedAt })) this.#tell(change, "absent");
  }

  #apply(event: WatchEvent<T>): void {
    if (event.type === "DELETED") this.#remove(keyOf(event.object.metadata), event.resourceVersion);
    else if (event.type !== "BOOKMARK") this.#put(event.object, event.resourceVersion);
    this.#progress.advance(event.resourceVersion);
  }

  #remove(key: string, resourceVersion: string): void {
    this.#decoder.forget(key);
    this.#tell(this.#store.remove(key, { resourceVersion, at: this.#options.clock.now() }), "deleted");
  }

  #put(object: T, resourceVersion: string): void {
    const key = keyOf(object.metadata);
    if (this.#isReplay(key, resourceVersion) || this.#isEcho(key, resourceVersion)) return;
    const entry = this.#read(key, object, resourceVersion);
    if (entry) this.#tell(this.#store.put(key, entry), "deleted");
  }

  /** Comes from before a deletion that was seen already. */
  #isReplay(key: string, resourceVersion: string): boolean {
    return this.#progress.isPast(resourceVersion) && !this.#store.get(key);
  }

  /** What we have learned already from the answer to our own write. */
  #isEcho(key: string, resourceVersion: string): boolean {
    return resourceVersion !== "" && this.#store.get(key)?.resourceVersion === resourceVersion;
  }

  /** An object that the decoder cannot read leaves the last fact in place. */
  #read(key: string, object: T, resourceVersion: string): StoreEntry<F> | undefined {
    const decoded = this.#decoder.decode(key, object) ?? this.#store.get(key);
    // In whole milliseconds: a number with a fraction is an object of its own, for each of thousands.
    return decoded && { fact: decoded.fact, resourceVersion, heardAt: Math.trunc(this.#options.clock.now()) };
  }

  #tell(change: StoreChange<F> | undefined, gone: "deleted" | "absent"): void {
    if (change) this.#changes.tell("after" in change ? change : { ...change, gone });
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
