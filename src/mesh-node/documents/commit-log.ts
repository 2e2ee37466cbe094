import { randomBytes } from "node:crypto";
import type { Logger } from "../../runtime/log.ts";
import type { DocumentError } from "./documents.ts";
import { encodeBatch } from "./log-file.ts";
import { encodeRecords, type LogRecord } from "./log-record.ts";
import { logName, writeWholeLog } from "./rewrite-log.ts";
import { type Storage, type StorageFile, storageError, writeAll } from "./storage.ts";

/** Something to make durable. `settle` is called once, in the order of the calls, with why it failed if it did. */
export interface Commit {
  readonly record: LogRecord;
  settle(problem?: DocumentError): void;
}

/** The log as it was found or made when the directory was opened. */
export interface OpenLog {
  readonly number: number;
  readonly salt: number;
  readonly file: StorageFile;
  readonly size: number;
}

export interface CommitLogOptions {
  readonly storage: Storage;
  readonly log: Logger;
  /** Everything that is durable, as the records that a new log begins with. */
  readonly state: () => Iterable<LogRecord>;
  /** How many bytes `state` has. */
  readonly stateBytes: () => number;
  /** The log is written anew when it has more than twice the bytes of the state and this. */
  readonly slackBytes?: number;
}

const maxBatchBytes = 4 * 1024 * 1024;

/**
 * Writes commits behind the log; those that come while the disk is busy share the next write and its sync. A failed
 * write fails everything that waits, because later commits build on earlier ones, and leaves the log as it was.
 */
export class CommitLog {
  readonly #options: CommitLogOptions;
  #open: OpenLog;
  #size: number;
  #waiting: Commit[] = [];
  #draining: Promise<void> | undefined;
  /** What is behind the durable part of the file is not known: only a new file can be trusted. */
  #isDoubtful = false;
  #rewriteAbove: number;
  #problem: DocumentError | undefined;

  constructor(open: OpenLog, options: CommitLogOptions) {
    this.#options = options;
    this.#open = open;
    this.#size = open.size;
    this.#rewriteAbove = 0;
  }

  get size(): number {
    return this.#size;
  }

  /** Why the last write failed; undefined when it succeeded. */
  get problem(): DocumentError | undefined {
    return this.#problem;
  }

  append(commit: Commit): void {
    this.#waiting.push(commit);
    this.#draining ??= this.#drain();
  }

  /** Waits for what was appended, then closes the file. */
  async close(): Promise<void> {
    await this.#draining;
    await this.#open.file.close();
  }

  async #drain(): Promise<void> {
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#nextBatch();
      const problem = await this.#write(batch.map(({ record }) => record));
      if (problem) batch.push(...this.#waiting.splice(0));
      this.#problem = problem;
      for (const commit of batch) commit.settle(problem);
    }
    this.#draining = undefined;
  }

  #nextBatch(): Commit[] {
    let bytes = 0;
    let count = 0;
    for (const { record } of this.#waiting) {
      bytes += record.kind === "changes" ? record.bytes.length : 0;
      if (count > 0 && bytes > maxBatchBytes) break;
      count++;
    }
    return this.#waiting.splice(0, count);
  }

  async #write(records: readonly LogRecord[]): Promise<DocumentError | undefined> {
    try {
      await this.#rewriteIfNeeded();
      await this.#appendBatch(encodeBatch(this.#open.salt, encodeRecords(records)));
      return undefined;
    } catch (error) {
      return storageError("the documents cannot be written to the data directory", error);
    }
  }

  async #appendBatch(batch: Buffer): Promise<void> {
    const { file } = this.#open;
    try {
      await writeAll(file, batch, this.#size);
    } catch (error) {
      await file.truncate(this.#size).catch(() => this.#doubt());
      throw error;
    }
    try {
      await file.datasync();
    } catch (error) {
      this.#doubt();
      throw error;
    }
    this.#size += batch.length;
  }

  #doubt(): void {
    this.#isDoubtful = true;
  }

  async #rewriteIfNeeded(): Promise<void> {
    const { stateBytes, slackBytes = 4 * 1024 * 1024, log } = this.#options;
    if (this.#isDoubtful) return this.#rewrite();
    if (this.#size <= Math.max(2 * stateBytes() + slackBytes, this.#rewriteAbove)) return;
    try {
      await this.#rewrite();
    } catch (error) {
      this.#rewriteAbove = this.#size + slackBytes;
      log.warn("log not compacted", { error: storageError("the log cannot be written anew", error).message });
    }
  }

  /** From the first moment on in which the new name may be there, the old file must not be added to. */
  async #rewrite(): Promise<void> {
    const { storage, state } = this.#options;
    const old = this.#open;
    const next = { number: old.number + 1, salt: randomBytes(4).readUInt32LE() };
    const { file, size } = await writeWholeLog(storage, next, {
      records: state(),
      beforeRename: () => this.#doubt(),
    });
    this.#open = { ...next, file, size };
    this.#size = size;
    this.#isDoubtful = false;
    await old.file.close().catch(() => undefined);
    await storage.remove(logName(old.number)).catch(() => undefined);
  }
}
