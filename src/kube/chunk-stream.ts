import type { Readable } from "node:stream";
import { stoppedEarly, truncated } from "./response-body.ts";

const maxWaitingBytes = 1024 * 1024;

/**
 * The chunks of a body as they arrive, uncopied. Node's own iterator joins chunks that wait. Ends when the body does
 * and throws what `explain` makes of it when it breaks off; leaving the loop gives the body up.
 */
export class ChunkStream implements AsyncIterableIterator<Uint8Array> {
  readonly #body: Readable;
  readonly #explain: (error: unknown) => unknown;
  readonly #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #end: { readonly error?: unknown } | undefined;
  #reader: PromiseWithResolvers<IteratorResult<Uint8Array>> | undefined;

  constructor(body: Readable, explain: (error: unknown) => unknown) {
    this.#body = body;
    this.#explain = explain;
    if (body.destroyed) this.#finish({ error: truncated() });
    body.on("data", (chunk: Uint8Array) => this.#take(chunk));
    body.once("end", () => this.#finish(stoppedEarly(body) ? { error: truncated() } : {}));
    body.once("error", (error) => this.#finish({ error }));
    body.once("close", () => this.#finish({ error: truncated() }));
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    const chunk = this.#waiting.shift();
    if (chunk) {
      this.#waitingBytes -= chunk.length;
      if (this.#waitingBytes === 0) this.#body.resume();
      return Promise.resolve({ done: false, value: chunk });
    }
    if (this.#end) return this.#ended(this.#end);
    this.#reader = Promise.withResolvers();
    return this.#reader.promise;
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    this.#finish({});
    this.#waiting.length = 0;
    this.#body.destroy();
    return Promise.resolve({ done: true, value: undefined });
  }

  #take(chunk: Uint8Array): void {
    if (this.#reader) {
      this.#reader.resolve({ done: false, value: chunk });
      this.#reader = undefined;
      return;
    }
    this.#waitingBytes += chunk.length;
    this.#waiting.push(chunk);
    if (this.#waitingBytes > maxWaitingBytes) this.#body.pause();
  }

  #finish(end: { readonly error?: unknown }): void {
    if (this.#end) return;
    this.#end = end;
    this.#reader?.resolve(this.#ended(end));
    this.#reader = undefined;
  }

  #ended(end: { readonly error?: unknown }): Promise<IteratorResult<Uint8Array>> {
    if (!("error" in end)) return Promise.resolve({ done: true, value: undefined });
    this.#end = {};
    return Promise.reject(this.#explain(end.error));
  }
}
