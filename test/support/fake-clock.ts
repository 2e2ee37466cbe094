import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../../src/runtime/clock.ts";

interface Sleeper {
  readonly due: number;
  readonly order: number;
  wake(): void;
}

/** A clock that stands still until a test moves it. */
export class FakeClock implements Clock {
  readonly #start: number;
  readonly #sleepers = new Set<Sleeper>();
  #now = 0;
  #order = 0;

  constructor(start = "2026-01-01T00:00:00Z") {
    this.#start = Date.parse(start);
  }

  now(): number {
    return this.#now;
  }

  date(): Date {
    return new Date(this.#start + this.#now);
  }

  /** How many sleeps nobody has woken or aborted: zero when nothing is left behind. */
  get sleeping(): number {
    return this.#sleepers.size;
  }

  /** When the next sleep ends, counted from now. */
  get nextInMs(): number | undefined {
    const next = this.#next();
    return next && next.due - this.#now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#sleepers.delete(sleeper);
        reject(signal?.reason);
      };
      const wake = () => {
        signal?.removeEventListener("abort", abort);
        resolve();
      };
      const sleeper: Sleeper = { due: this.#now + Math.max(0, ms), order: this.#order++, wake };
      this.#sleepers.add(sleeper);
      signal?.addEventListener("abort", abort, { once: true });
    });
  }

  /** Moves time, waking each sleep at its own moment and letting what it wakes run before the next. */
  async advance(ms: number): Promise<void> {
    const target = this.#now + ms;
    await this.settle();
    for (let next = this.#next(); next && next.due <= target; next = this.#next()) {
      this.#now = Math.max(this.#now, next.due);
      this.#sleepers.delete(next);
      next.wake();
      await this.settle();
    }
    this.#now = target;
    await this.settle();
  }

  /** Moves time without waking anyone, as a process that was stopped and continued sees it. */
  jump(ms: number): void {
    this.#now += ms;
  }

  /** Lets everything run that waits for no time. */
  async settle(turns = 4): Promise<void> {
    for (let turn = 0; turn < turns; turn++) await nextTurn();
  }

  #next(): Sleeper | undefined {
    let first: Sleeper | undefined;
    for (const sleeper of this.#sleepers) {
      if (!first || sleeper.due < first.due || (sleeper.due === first.due && sleeper.order < first.order))
        first = sleeper;
    }
    return first;
  }
}
