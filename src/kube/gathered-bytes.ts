const leastBytes = 4096;

/**
 * Bytes that arrive in pieces, gathered in one place: a piece that is kept as it came takes hundreds of bytes, and a server
 * may send millions of pieces of one byte.
 */
export class GatheredBytes {
  #bytes: Buffer = Buffer.alloc(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    if (length > this.#bytes.length) this.#grow(length);
    this.#bytes.set(piece, this.#length);
    this.#length = length;
  }

  /** All of them; from then on it is empty. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#bytes = Buffer.alloc(0);
    this.#length = 0;
    return taken;
  }

  /** To twice its size, so that what is there is copied only now and then. */
  #grow(length: number): void {
    const grown = Buffer.allocUnsafeSlow(Math.max(leastBytes, length, 2 * this.#bytes.length));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}
