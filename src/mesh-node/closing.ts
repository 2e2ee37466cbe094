import type { Clock } from "../runtime/clock.ts";
import { withDeadline } from "../runtime/deadline.ts";
import type { Logger } from "../runtime/log.ts";

export interface ClosingOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** One thing may take so long before the next is closed. */
  readonly eachWithinMs?: number;
}

/** What was opened and has to be closed, the last one first. */
export class Closing {
  readonly #options: ClosingOptions;
  readonly #things: { readonly name: string; readonly close: () => Promise<void> | void }[] = [];
  #closed: Promise<void> | undefined;

  constructor(options: ClosingOptions) {
    this.#options = options;
  }

  add(name: string, close: () => Promise<void> | void): void {
    this.#things.push({ name, close });
  }

  /** A second call waits for the first. Never rejects: what does not close is logged. */
  close(): Promise<void> {
    this.#closed ??= this.#closeAll();
    return this.#closed;
  }

  async #closeAll(): Promise<void> {
    const { clock, log, eachWithinMs = 10_000 } = this.#options;
    for (const { name, close } of this.#things.toReversed()) {
      try {
        await withDeadline({ clock, ms: eachWithinMs }, async () => close());
      } catch (error) {
        log.error("part did not close", { part: name, error: error instanceof Error ? error.message : String(error) });
      }
    }
  }
}
