import { TransportError } from "./transport.ts";

/** A longer timer would fire at once. */
const maxTimerMs = 2 ** 31 - 1;

/**
 * The life of one call: `signal` aborts at the deadline (with a `timeout`) or with the caller's own signal,
 * whichever is first. `end` must be called, or the caller's signal keeps the call in memory.
 */
export class CallScope {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #caller: AbortSignal | undefined;

  constructor(deadlineMs: number, caller: AbortSignal | undefined) {
    caller?.throwIfAborted();
    this.#caller = caller;
    this.#timer = setTimeout(this.#expire, Math.min(deadlineMs, maxTimerMs), deadlineMs).unref();
    caller?.addEventListener("abort", this.#follow);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** From here on only the caller's signal counts. */
  dropDeadline(): void {
    clearTimeout(this.#timer);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener("abort", this.#follow);
  }

  readonly #expire = (deadlineMs: number): void => {
    this.#controller.abort(new TransportError({ kind: "timeout", detail: `no full answer within ${deadlineMs} ms` }));
  };

  readonly #follow = (): void => {
    this.#controller.abort(this.#caller?.reason);
  };
}
