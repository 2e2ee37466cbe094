import type { Clock } from "../runtime/clock.ts";
import type { Logger } from "../runtime/log.ts";
import { FactDecoder } from "./fact-decoder.ts";
import { type KubeObject, keyOf, type ObjectRef } from "./object.ts";
import { OwnWrites } from "./own-writes.ts";
import type { Progress } from "./progress.ts";
import type { ReflectorSink } from "./reflector.ts";
import { Store, type StoreChange, type StoreEntry } from "./store.ts";
import type { WatchEvent } from "./watch.ts";

export interface Change<F> {
  readonly key: string;
  readonly before?: F;
  readonly after?: F;
  /** Why `after` is absent: we were told of the deletion, or a complete list did not hold the object. */
  readonly gone?: "deleted" | "absent";
}

export interface LocalCopyOptions<T extends KubeObject, F> {
  /** Takes what is needed out of the object, which is dropped here. */
  readonly decode: (object: T) => F;
  readonly same: (before: F, after: F) => boolean;
  readonly clock: Clock;
  readonly log: Logger;
  readonly progress: Progress;
  readonly onChange: (change: Change<F>) => void;
}

/** The facts of one kind of object, from lists, events and the answers to our own writes, in whatever order they come. */
export class LocalCopy<T extends KubeObject, F> implements Omit<ReflectorSink<T>, "afterList"> {
  readonly #clock: Clock;
  readonly #progress: Progress;
  readonly #onChange: (change: Change<F>) => void;
  readonly #store: Store<F>;
  readonly #decoder: FactDecoder<T, F>;
  readonly #ownWrites: OwnWrites;
  #listing = new Map<string, StoreEntry<F>>();

  constructor({ decode, same, clock, log, progress, onChange }: LocalCopyOptions<T, F>) {
    this.#clock = clock;
    this.#progress = progress;
    this.#onChange = onChange;
    this.#store = new Store(same);
    this.#decoder = new FactDecoder(decode, log);
    this.#ownWrites = new OwnWrites(progress);
  }

  get size(): number {
    return this.#store.size;
  }

  get(key: string): StoreEntry<F> | undefined {
    return this.#store.get(key);
  }

  entries(): Iterable<readonly [string, F]> {
    return this.#store.entries();
  }

  /** All of them; the same list while none of them changes. */
  facts(): readonly F[] {
    return this.#store.facts();
  }

  beginList(): void {
    this.#listing.clear();
  }

  addPage(items: readonly T[]): void {
    for (const item of items) {
      const key = keyOf(item.metadata);
      const entry = this.#read(key, item, item.metadata.resourceVersion ?? "");
      if (entry) this.#listing.set(key, entry);
    }
  }

  endList(resourceVersion: string, askedAt: number): void {
    const entries = this.#listing;
    this.#listing = new Map();
    this.#ownWrites.clear();
    for (const change of this.#store.replaceAll({ entries, resourceVersion, askedAt })) this.#tell(change, "absent");
  }

  apply(event: WatchEvent<T>): void {
    if (event.type === "DELETED") this.#remove(keyOf(event.object.metadata), event.resourceVersion);
    else if (event.type !== "BOOKMARK") this.#put(event.object, event.resourceVersion);
    this.#progress.advance(event.resourceVersion);
  }

  isKnown(line: Buffer): boolean {
    return this.#ownWrites.areRepeatedBy(line);
  }

  startOver(): void {
    this.#store.forgetVersions();
  }

  /** Folds the answer of our own write in, unless something newer is stored. */
  learn(object: T): void {
    const { metadata } = object;
    const { resourceVersion = "" } = metadata;
    this.#put(object, resourceVersion);
    if (this.#isEcho(keyOf(metadata), resourceVersion)) this.#ownWrites.add(metadata);
  }

  /** Our own deletion succeeded: events from before it no longer bring the object back. */
  learnDeleted(ref: ObjectRef, resourceVersion?: string): void {
    const key = keyOf(ref);
    const version = resourceVersion ?? this.#store.get(key)?.resourceVersion;
    if (version === undefined || this.#isReplay(key, version)) return;
    this.#tell(this.#store.remove(key, { resourceVersion: version, at: this.#clock.now() }, true), "deleted");
  }

  #remove(key: string, resourceVersion: string): void {
    this.#decoder.forget(key);
    this.#tell(this.#store.remove(key, { resourceVersion, at: this.#clock.now() }), "deleted");
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
    return decoded && { fact: decoded.fact, resourceVersion, heardAt: Math.trunc(this.#clock.now()) };
  }

  #tell(change: StoreChange<F> | undefined, gone: "deleted" | "absent"): void {
    if (change) this.#onChange("after" in change ? change : { ...change, gone });
  }
}
