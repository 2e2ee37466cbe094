import type { TransportError } from "./transport.ts";

const windowBytes = 1024 * 1024;

/** One direction of a stream in memory: bytes in order, a writer that waits for a slow reader. */
export class MemoryPipe {
  readonly #carry: () => Promise<void>;
  readonly #chunks: Uint8Array[] = [];
  readonly #waiting = new Set<() => void>();
  #unread = 0;
  #written: Promise<void> = Promise.resolve();
  #arrived: Promise<void> = Promise.resolve();
  #readerEnd: TransportError | undefined;
  #writerEnd: TransportError | undefined;
  #onFirst: (() => void) | undefined;

  /** `carry` is the way to the other side: it takes its time, or for ever. */
  constructor(carry: () => Promise<void>, onFirst?: () => void) {
    this.#carry = carry;
    this.#onFirst = onFirst;
  }

  write(bytes: Uint8Array): Promise<void> {
    const written = this.#written.then(() => this.#put(Uint8Array.from(bytes)));
    this.#written = written;
    written.catch(() => undefined);
    return written;
  }

  async read(maxBytes: number): Promise<Uint8Array> {
    while (this.#chunks.length === 0 || this.#readerEnd) {
      if (this.#readerEnd) throw this.#readerEnd;
      await this.#changed();
    }
    const chunk = this.#chunks.shift() ?? new Uint8Array();
    if (chunk.length > maxBytes) this.#chunks.unshift(chunk.subarray(maxBytes));
    const taken = chunk.subarray(0, maxBytes);
    this.#unread -= taken.length;
    this.#tell();
    return taken;
  }

  /** Nothing is read after this. The writer hears of it on its own way. */
  endReading(error: TransportError): void {
    this.#readerEnd ??= error;
    this.#tell();
  }

  endWriting(error: TransportError): void {
    this.#writerEnd ??= error;
    this.#tell();
  }

  async #put(bytes: Uint8Array): Promise<void> {
    while (this.#unread >= windowBytes && !this.#writerEnd) await this.#changed();
    if (this.#writerEnd) throw this.#writerEnd;
    this.#unread += bytes.length;
    this.#arrived = this.#arrived.then(this.#carry).then(() => this.#arrive(bytes));
  }

  #arrive(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#chunks.push(bytes);
    this.#onFirst?.();
    this.#onFirst = undefined;
    this.#tell();
  }

  #changed(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve));
  }

  #tell(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}
