import type { Logger } from "./log.ts";

/** Those who want to be told. One that throws is logged and does not keep the others from hearing. */
export class Listeners<Message> {
  readonly #log: Logger;
  readonly #listeners = new Set<{ readonly call: (message: Message) => void }>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Returns the function that ends the subscription. */
  add(call: (message: Message) => void): () => void {
    const listener = { call };
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  tell(message: Message): void {
    for (const { call } of this.#listeners) {
      try {
        call(message);
      } catch (error) {
        this.#log.error("listener failed", { stack: error instanceof Error ? error.stack : String(error) });
      }
    }
  }
}
