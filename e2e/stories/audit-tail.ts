import { open } from "node:fs/promises";
import { type AuditEntry, entryOf } from "../control-plane/audit.ts";

/** Reads what an audit log has gained, so that a long log costs nothing: a whole story writes thousands of lines. */
export class AuditTail {
  readonly #file: string;
  #offset = 0;
  #rest = "";

  constructor(file: string) {
    this.#file = file;
  }

  /** The entries of the lines that were finished since the last call and that hold one of the words. */
  async read(words: readonly string[]): Promise<AuditEntry[]> {
    const text = this.#rest + (await this.#more());
    const lines = text.split("\n");
    this.#rest = lines.pop() ?? "";
    return lines.filter((line) => words.some((word) => line.includes(word))).flatMap((line) => entryOf(line) ?? []);
  }

  async #more(): Promise<string> {
    const handle = await open(this.#file, "r");
    try {
      const { size } = await handle.stat();
      const buffer = Buffer.alloc(Math.max(0, size - this.#offset));
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, this.#offset);
      this.#offset += bytesRead;
      return buffer.toString("utf8", 0, bytesRead);
    } finally {
      await handle.close();
    }
  }
}
