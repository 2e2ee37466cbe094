import { setImmediate as turn } from "node:timers/promises";
import { type BackoffRange, backoffMs } from "./backoff.ts";
import type { Clock } from "./clock.ts";

export interface QueueOptions {
  readonly clock: Clock;
  /** How many keys may be worked on at once. */
  readonly parallel: number;
  /** What is added within this time becomes one run. Default 0. */
  readonly coalesceMs?: number;
  readonly backoff?: BackoffRange;
  readonly random?: () => number;
}

/** Does the work of one key. It must not throw: see `runController`. */
export type Work<Key> = (key: Key, signal: AbortSignal) => Promise<void>;

const defaultBackoff: BackoffRange = { firstMs: 500, maxMs: 300_000 };
/** So long keys are begun one after another before the rest of the process has its turn. */
const longestTurnMs = 10;
/** Timers cannot hold more than 24 days; an alarm that rings early is set again. */
const maxAlarmMs = 86_400_000;

/**
 * Keys that wait for work. A key waits at most once, is worked on by at most one at a time, and what is added while it
 * is worked on makes it run once more.
 */
export class WorkQueue<Key extends string> {
  readonly #options: QueueOptions;
  readonly #stopping = new AbortController();
  /** When each waiting key is due. Of several wishes for one key the earliest wins. */
  readonly #due = new Map<Key, number>();
  readonly #running = new Map<Key, Promise<void>>();
  readonly #failures = new Map<Key, number>();
  #work: Work<Key> | undefined;
  #turn = Promise.resolve();
  #turnBeganMs = 0;
  #alarm: { readonly at: number; readonly off: AbortController } | undefined;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /** Keys that wait, whether due or not. */
  get waiting(): number {
    return this.#due.size;
  }

  get running(): number {
    return this.#running.size;
  }

  /** Keys whose last run asked for a retry. */
  get retrying(): number {
    return this.#failures.size;
  }

  start(work: Work<Key>): void {
    if (this.#work) throw new Error("the queue is started already");
    this.#work = work;
    this.#pump();
  }

  add(key: Key): void {
    this.addAfter(key, this.#options.coalesceMs ?? 0);
  }

  addAfter(key: Key, ms: number): void {
    if (this.#stopping.signal.aborted) return;
    const due = this.#options.clock.now() + Math.max(0, ms);
    const wished = this.#due.get(key);
    if (wished !== undefined && wished <= due) return;
    this.#due.set(key, due);
    this.#pump();
  }

  /** Adds the key after a time that doubles with each retry until `forget`. Returns that time. */
  retry(key: Key): number {
    const failures = this.#failures.get(key) ?? 0;
    const { backoff = defaultBackoff, random = Math.random } = this.#options;
    const ms = Math.max(
      1,
      backoffMs(backoff, failures, () => 0.5 + random() / 2),
    );
    this.#failures.set(key, failures + 1);
    this.addAfter(key, ms);
    return ms;
  }

  /** The key works again: its next retry is the first. */
  forget(key: Key): void {
    this.#failures.delete(key);
  }

  /** Starts nothing more, aborts the signal of the work under way and waits for it to end. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#due.clear();
    this.#setAlarm(undefined);
    await Promise.all(this.#running.values());
  }

  #pump(): void {
    while (this.#work && this.#running.size < this.#options.parallel) {
      const next = this.#next();
      const isDue = next && next.due <= this.#options.clock.now();
      this.#setAlarm(isDue ? undefined : next?.due);
      if (!isDue) return;
      this.#due.delete(next.key);
      this.#running.set(next.key, this.#run(next.key, this.#work));
    }
  }

  /** The earliest key that nobody works on; among equals the one that waits longest. */
  #next(): { readonly key: Key; readonly due: number } | undefined {
    let first: { key: Key; due: number } | undefined;
    for (const [key, due] of this.#due) {
      if (!this.#running.has(key) && (!first || due < first.due)) first = { key, due };
    }
    return first;
  }

  async #run(key: Key, work: Work<Key>): Promise<void> {
    // The key counts as running before its work begins.
    this.#turn = this.#turn.then(() => this.#yieldAtTimes());
    await this.#turn;
    try {
      if (!this.#stopping.signal.aborted) await work(key, this.#stopping.signal);
    } finally {
      this.#running.delete(key);
      this.#pump();
    }
  }

  /**
   * Between keys the rest of the process has its turn: a hundred plans in a row would keep leases waiting, and the writes of
   * the first. Keys that are due at the same time ask one after the other, or all would get the same turn.
   */
  async #yieldAtTimes(): Promise<void> {
    if (performance.now() - this.#turnBeganMs < longestTurnMs) return;
    await turn();
    this.#turnBeganMs = performance.now();
  }

  #setAlarm(at: number | undefined): void {
    if (this.#alarm?.at === at) return;
    this.#alarm?.off.abort();
    this.#alarm = undefined;
    if (at === undefined) return;
    const off = new AbortController();
    this.#alarm = { at, off };
    const { clock } = this.#options;
    clock.sleep(Math.min(at - clock.now(), maxAlarmMs), off.signal).then(
      () => this.#rang(off),
      () => undefined,
    );
  }

  #rang(off: AbortController): void {
    if (this.#alarm?.off !== off) return;
    this.#alarm = undefined;
    this.#pump();
  }
}
