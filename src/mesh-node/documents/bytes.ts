/** Bytes that are not what they should be. Says where, never what was in them. */
export class MalformedError extends Error {
  override readonly name = "MalformedError";
}

/** Collects fields into one piece of memory. */
export class ByteWriter {
  readonly #parts: Uint8Array[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  byte(value: number): this {
    return this.raw(Uint8Array.of(value));
  }

  /** A whole number from 0 to 2^53 - 1, in as few bytes as it needs. */
  number(value: number): this {
    if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${value} cannot be written`);
    const bytes: number[] = [];
    let rest = value;
    while (rest > 0x7f) {
      bytes.push((rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    return this.raw(Uint8Array.of(...bytes, rest));
  }

  bytes(value: Uint8Array): this {
    return this.number(value.length).raw(value);
  }

  text(value: string): this {
    return this.bytes(Buffer.from(value, "utf8"));
  }

  raw(value: Uint8Array): this {
    this.#parts.push(value);
    this.#length += value.length;
    return this;
  }

  finish(): Buffer {
    return Buffer.concat(this.#parts, this.#length);
  }
}

/** Reads fields back. What it returns is copied: a small field does not keep a big frame alive. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get atEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  byte(): number {
    const value = this.#bytes[this.#at];
    if (value === undefined) throw new MalformedError("the bytes end too early");
    this.#at++;
    return value;
  }

  number(max: number): number {
    let value = 0;
    for (let scale = 1; scale <= 2 ** 49; scale *= 0x80) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte <= 0x7f) return atMost(value, max);
    }
    throw new MalformedError("a number is too long");
  }

  bytes(maxLength: number): Uint8Array {
    return this.raw(this.number(maxLength));
  }

  text(maxLength: number): string {
    const bytes = this.bytes(maxLength);
    const text = Buffer.from(bytes).toString("utf8");
    if (Buffer.compare(Buffer.from(text, "utf8"), bytes) !== 0) throw new MalformedError("a text is not UTF-8");
    return text;
  }

  raw(length: number): Uint8Array {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new MalformedError("the bytes end too early");
    const value = this.#bytes.slice(this.#at, end);
    this.#at = end;
    return value;
  }

  /** Reads `count` things; a count that the rest of the bytes cannot hold is refused before anything is read. */
  list<Item>(max: number, item: () => Item): Item[] {
    const count = this.number(Math.min(max, this.#bytes.length - this.#at));
    return Array.from({ length: count }, item);
  }

  end(): void {
    if (!this.atEnd) throw new MalformedError("there are bytes after the end");
  }
}

function atMost(value: number, max: number): number {
  if (value > max) throw new MalformedError(`a number is greater than ${max}`);
  return value;
}
