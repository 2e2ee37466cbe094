import type { Logger } from "../runtime/log.ts";

/** Runs a decoder that must not be able to stop the stream: an object it cannot read is told once, until it can. */
export class FactDecoder<T, F> {
  readonly #decode: (object: T) => F;
  readonly #log: Logger;
  readonly #failing = new Set<string>();

  constructor(decode: (object: T) => F, log: Logger) {
    this.#decode = decode;
    this.#log = log;
  }

  /** The fact in a box, or nothing when the decoder threw. */
  decode(key: string, object: T): { readonly fact: F } | undefined {
    try {
      const fact = this.#decode(object);
      if (this.#failing.size > 0) this.#failing.delete(key);
      return { fact };
    } catch (error) {
      if (!this.#failing.has(key)) this.#log.error("object cannot be decoded", { key, ...placeOf(error) });
      this.#failing.add(key);
      return undefined;
    }
  }

  forget(key: string): void {
    this.#failing.delete(key);
  }
}

/** Where it was thrown, without the message: that may quote the object. */
function placeOf(error: unknown): { readonly error: string; readonly stack?: string } {
  if (!(error instanceof Error)) return { error: typeof error };
  const frames = error.stack?.split("\n").filter((line) => line.startsWith("    at "));
  return { error: error.name, ...(frames && { stack: frames.join("\n") }) };
}
