import { absenceSpanMs } from "../registry/departures.ts";
import type { Clock } from "../runtime/clock.ts";

/** What can be listed again. */
export interface Listed {
  onListed(listener: () => void): () => void;
  relist(): void;
}

/** Whether two complete lists, far enough apart, have been read: what was in neither does not exist. */
export class ListProof {
  readonly #listed: Listed;
  readonly #clock: Clock;
  readonly #stopped = new AbortController();
  #firstMs: number | undefined;
  #agree = false;
  #proving = false;

  constructor(listed: Listed, clock: Clock, onProven: () => void) {
    this.#listed = listed;
    this.#clock = clock;
    listed.onListed(() => {
      this.#firstMs ??= clock.now();
      if (this.#agree || clock.now() - this.#firstMs < absenceSpanMs) return;
      this.#agree = true;
      onProven();
    });
  }

  get agree(): boolean {
    return this.#agree;
  }

  /** Has the second list read when it can prove something. */
  prove(): void {
    if (this.#agree || this.#proving || this.#firstMs === undefined) return;
    this.#proving = true;
    const waitMs = this.#firstMs + absenceSpanMs - this.#clock.now();
    this.#clock.sleep(Math.max(0, waitMs), this.#stopped.signal).then(
      () => {
        this.#proving = false;
        this.#listed.relist();
      },
      () => undefined,
    );
  }

  /** A minute that somebody waits for would keep the process from ending. */
  stop(): void {
    this.#stopped.abort();
  }
}
