import type { WireObject } from "./wire-object.ts";

/** One change of one object. `object` of a deletion is the last state, with the version of the deletion. */
export interface StoredEvent {
  readonly revision: number;
  readonly object: WireObject;
  readonly previous: WireObject | undefined;
  readonly deleted: boolean;
  /** Its serialised forms, shared by all watches. */
  readonly frames: Map<string, Buffer>;
  /** How many watches have yet to send it; at 0 the frames are let go. */
  waiting: number;
}

export interface HistoryListener {
  changed(event: StoredEvent): void;
  /** The resource is no longer served. */
  closed(): void;
}

/** The last changes of a resource, oldest first, up to a limit. */
export class History {
  readonly #limit: number;
  readonly #listeners = new Set<HistoryListener>();
  #events: StoredEvent[] = [];
  #lostUpTo = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Changes up to and including this revision are no longer known. */
  get lostUpTo(): number {
    return this.#lostUpTo;
  }

  append(event: StoredEvent): void {
    this.#events.push(event);
    if (this.#events.length >= 2 * this.#limit) this.#dropFirst(this.#events.length - this.#limit);
    for (const listener of this.#listeners) listener.changed(event);
  }

  /** Forgets everything up to `revision`. */
  compact(revision: number): void {
    this.#dropFirst(this.#events.length);
    this.#lostUpTo = Math.max(this.#lostUpTo, revision);
  }

  /** The changes after a revision, or undefined when some of them are lost. */
  since(revision: number): readonly StoredEvent[] | undefined {
    if (revision < this.#lostUpTo) return undefined;
    return this.#events.slice(this.#firstAfter(revision));
  }

  subscribe(listener: HistoryListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    for (const listener of [...this.#listeners]) listener.closed();
  }

  #dropFirst(count: number): void {
    const dropped = this.#events.slice(0, count);
    this.#events = this.#events.slice(count);
    this.#lostUpTo = dropped.at(-1)?.revision ?? this.#lostUpTo;
  }

  #firstAfter(revision: number): number {
    let low = 0;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#events[middle]?.revision ?? 0) > revision) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
