import type { Clock } from "../runtime/clock.ts";

/** Whoever may write a mesh may ask for a fresh look at its clusters, and others are in those clusters too. */
export const betweenLooksMs = 5000;

export interface PacedOptions {
  readonly clock: Clock;
  readonly betweenMs: number;
  /** Ends the waiting. */
  readonly signal: AbortSignal;
  readonly act: () => void;
}

/** Does something at once when it is asked to, but not again for a while: what is asked for meanwhile is done once, then. */
export class Paced {
  readonly #options: PacedOptions;
  #nextMs = Number.NEGATIVE_INFINITY;
  #isWaiting = false;

  constructor(options: PacedOptions) {
    this.#options = options;
  }

  ask(): void {
    const { clock, signal } = this.#options;
    const waitMs = this.#nextMs - clock.now();
    if (this.#isWaiting || signal.aborted) return;
    if (waitMs <= 0) this.#act();
    else this.#wait(waitMs);
  }

  #wait(ms: number): void {
    const { clock, signal } = this.#options;
    this.#isWaiting = true;
    clock.sleep(ms, signal).then(
      () => this.#act(),
      () => undefined,
    );
  }

  #act(): void {
    const { clock, betweenMs, act } = this.#options;
    this.#isWaiting = false;
    this.#nextMs = clock.now() + betweenMs;
    act();
  }
}
