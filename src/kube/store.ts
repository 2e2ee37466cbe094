import { compareVersions } from "./resource-version.ts";

/** One object as we remember it. `heardAt` is on the monotonic clock. */
export interface StoreEntry<F> {
  readonly fact: F;
  readonly resourceVersion: string;
  readonly heardAt: number;
}

export interface StoreChange<F> {
  readonly key: string;
  readonly before?: F;
  readonly after?: F;
}

export interface Removal {
  readonly resourceVersion: string;
  /** When we learned of it, on the monotonic clock. */
  readonly at: number;
}

/** A complete list: everything that exists, as of `resourceVersion`. */
export interface Snapshot<F> {
  readonly entries: ReadonlyMap<string, StoreEntry<F>>;
  readonly resourceVersion: string;
  /** When the list was asked for, on the monotonic clock. */
  readonly askedAt: number;
}

/**
 * Facts by key. No key ever goes back to an older version, whatever the order in which lists, events and the
 * answers of our own writes arrive. Equal facts are no change.
 */
export class Store<F> {
  readonly #same: (before: F, after: F) => boolean;
  readonly #entries = new Map<string, StoreEntry<F>>();
  /** Deletions we were told of before the watch was: an older event must not bring the object back. */
  readonly #removed = new Map<string, Removal>();
  #facts: readonly F[] | undefined;

  constructor(same: (before: F, after: F) => boolean) {
    this.#same = same;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): StoreEntry<F> | undefined {
    return this.#entries.get(key);
  }

  *entries(): Generator<readonly [string, F], void, undefined> {
    for (const [key, entry] of this.#entries) yield [key, entry.fact];
  }

  /** All of them; the same list while none of them changes. */
  facts(): readonly F[] {
    this.#facts ??= [...this.#entries.values()].map(({ fact }) => fact);
    return this.#facts;
  }

  put(key: string, entry: StoreEntry<F>): StoreChange<F> | undefined {
    if (this.#isOutdated(key, entry.resourceVersion)) return undefined;
    this.#removed.delete(key);
    const known = this.#entries.get(key);
    if (!known) {
      this.#facts = undefined;
      this.#entries.set(key, entry);
      return { key, after: entry.fact };
    }
    const equal = this.#same(known.fact, entry.fact);
    // A list that repeats what was heard before is no new sign of life.
    const heardAt = known.resourceVersion === entry.resourceVersion ? known.heardAt : entry.heardAt;
    const { resourceVersion } = entry;
    this.#entries.set(key, { fact: equal ? known.fact : entry.fact, resourceVersion, heardAt });
    if (!equal) this.#facts = undefined;
    return equal ? undefined : { key, before: known.fact, after: entry.fact };
  }

  /** The object is gone since `resourceVersion`; `remember` when older events of it may still arrive. */
  remove(key: string, removal: Removal, remember = false): StoreChange<F> | undefined {
    if (this.#isOutdated(key, removal.resourceVersion)) return undefined;
    const known = this.#entries.get(key);
    if (remember) this.#removed.set(key, removal);
    else this.#removed.delete(key);
    if (known) this.#delete(key);
    return known && { key, before: known.fact };
  }

  /** Takes over a complete list. What was learned after it was taken stays. */
  replaceAll(snapshot: Snapshot<F>): readonly StoreChange<F>[] {
    for (const [key, removal] of this.#removed) if (removal.at < snapshot.askedAt) this.#removed.delete(key);
    const changes: StoreChange<F>[] = [];
    for (const [key, entry] of snapshot.entries) {
      const change = this.put(key, entry);
      if (change) changes.push(change);
    }
    for (const [key, known] of this.#entries) {
      if (snapshot.entries.has(key) || compareVersions(known.resourceVersion, snapshot.resourceVersion) > 0) continue;
      this.#delete(key);
      changes.push({ key, before: known.fact });
    }
    return changes;
  }

  /** Forgets every version, so that the next list counts whatever its own are. The facts stay. */
  forgetVersions(): void {
    this.#removed.clear();
    for (const [key, entry] of this.#entries) this.#entries.set(key, { ...entry, resourceVersion: "" });
  }

  #delete(key: string): void {
    this.#facts = undefined;
    this.#entries.delete(key);
  }

  #isOutdated(key: string, resourceVersion: string): boolean {
    const known = this.#entries.get(key);
    if (known && compareVersions(resourceVersion, known.resourceVersion) < 0) return true;
    const removal = this.#removed.get(key);
    return removal !== undefined && compareVersions(resourceVersion, removal.resourceVersion) <= 0;
  }
}
