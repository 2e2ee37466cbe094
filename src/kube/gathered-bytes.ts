const leastBytes = 4096;
const none = Buffer.alloc(0);

/**
 * Bytes that arrive in pieces, gathered in one place: a piece that is kept as it came takes hundreds of bytes, and a server
 * may send millions of pieces of one byte.
 */
export class GatheredBytes {
  /** What came alone, as most answers do, is not copied. */
  #only: Buffer | undefined;
  #bytes: Buffer = none;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(piece: Buffer): void {
    if (this.#length === 0) {
      this.#only = piece;
      this.#length = piece.length;
      return;
    }
    const first = this.#only;
    this.#only = undefined;
    if (first) {
      this.#length = 0;
      this.#append(first);
    }
    this.#append(piece);
  }

  #append(piece: Buffer): void {
    const length = this.#length + piece.length;
    if (length > this.#bytes.length) this.#grow(length);
    this.#bytes.set(piece, this.#length);
    this.#length = length;
  }

  /** All of them; from then on it is empty. */
  take(): Buffer {
    const taken = this.#only ?? this.#bytes.subarray(0, this.#length);
    this.#only = undefined;
    this.#bytes = none;
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
