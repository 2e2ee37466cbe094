import type { Clock } from "../runtime/clock.ts";
import { compareVersions } from "./resource-version.ts";

interface Waiter {
  readonly version: string;
  resolve(reached: boolean): void;
}

/** How far the list and the watch have come: everything up to `version` has been seen. Only moves forward. */
export class Progress {
  readonly #clock: Clock;
  readonly #waiters = new Set<Waiter>();
  #version = "";
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get version(): string {
    return this.#version;
  }

  isPast(version: string): boolean {
    return this.#version !== "" && compareVersions(this.#version, version) >= 0;
  }

  advance(version: string): void {
    if (this.isPast(version)) return;
    this.#version = version;
    for (const waiter of this.#waiters) if (this.isPast(waiter.version)) waiter.resolve(true);
  }

  /** The server has a new history: versions seen so far mean nothing any more. */
  startOver(): void {
    this.#version = "";
  }

  /** True once `version` has been seen, false after `withinMs` or `close`. */
  reached(version: string, withinMs: number): Promise<boolean> {
    if (this.isPast(version)) return Promise.resolve(true);
    if (this.#closed || withinMs <= 0) return Promise.resolve(false);
    return new Promise((resolve) => {
      const over = new AbortController();
      const waiter: Waiter = {
        version,
        resolve: (answer) => {
          this.#waiters.delete(waiter);
          over.abort();
          resolve(answer);
        },
      };
      this.#waiters.add(waiter);
      this.#clock.sleep(withinMs, over.signal).then(
        () => waiter.resolve(false),
        () => undefined,
      );
    });
  }

  close(): void {
    this.#closed = true;
    for (const waiter of this.#waiters) waiter.resolve(false);
  }
}
