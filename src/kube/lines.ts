import { GatheredBytes } from "./gathered-bytes.ts";

const newline = 0x0a;

export const defaultMaxLineBytes = 4 * 1024 * 1024;

/** A line longer than we are willing to hold. */
export class LineTooLongError extends Error {
  override readonly name = "LineTooLongError";

  constructor(maxBytes: number) {
    super(`a line is longer than ${maxBytes} bytes`);
  }
}

/**
 * Cuts a byte stream at 0x0A and nowhere else: JSON may hold U+2028 as it is. A line within one chunk is a view of
 * that chunk, valid until the next call; only a line that spans chunks is copied.
 */
export class LineSplitter {
  readonly #maxBytes: number;
  readonly #held = new GatheredBytes();

  constructor(maxBytes = defaultMaxLineBytes) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that `chunk` completes, without their newline. */
  *push(chunk: Uint8Array): Generator<Buffer, void, undefined> {
    const bytes = viewOf(chunk);
    let start = 0;
    for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, start)) {
      const line = this.#complete(bytes.subarray(start, end));
      start = end + 1;
      if (line.length > 0) yield line;
    }
    if (start < bytes.length) this.#hold(bytes.subarray(start));
  }

  #complete(tail: Buffer): Buffer {
    this.#check(tail.length);
    if (this.#held.length === 0) return tail;
    this.#held.add(tail);
    return this.#held.take();
  }

  #hold(part: Buffer): void {
    this.#check(part.length);
    this.#held.add(part);
  }

  #check(moreBytes: number): void {
    if (this.#held.length + moreBytes > this.#maxBytes) throw new LineTooLongError(this.#maxBytes);
  }
}

function viewOf(chunk: Uint8Array): Buffer {
  return Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}
