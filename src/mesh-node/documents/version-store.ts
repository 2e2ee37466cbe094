import { Listeners } from "../../runtime/listeners.ts";
import type { Logger } from "../../runtime/log.ts";
import { CommitLog, type CommitLogOptions } from "./commit-log.ts";
import { Digest } from "./digest.ts";
import { DocumentError, type DocumentStats } from "./documents.ts";
import type { HandleCache } from "./handle-cache.ts";
import { type LogRecord, recordOf } from "./log-record.ts";
import type { FoundLog } from "./open-log.ts";
import type { Storage } from "./storage.ts";
import type { DocumentKey, Version } from "./version.ts";

/** A version became durable and takes the place of the one before. `after` is missing when a deletion was forgotten. */
export interface Published {
  readonly key: DocumentKey;
  readonly before?: Version;
  readonly after?: Version;
  /** Who brought it, as `commit` was told; missing for what was written here. */
  readonly origin?: unknown;
}

/** One step to make durable: the version after it and the record that leads to it from the version before. */
export interface Step {
  readonly key: DocumentKey;
  readonly after?: Version;
  readonly record: LogRecord;
  readonly origin?: unknown;
}

interface InFlight {
  readonly version: Version | undefined;
  readonly done: Promise<void>;
}

export interface VersionStoreOptions extends Pick<CommitLogOptions, "slackBytes"> {
  readonly storage: Storage;
  readonly found: FoundLog;
  readonly handles: HandleCache;
  readonly log: Logger;
}

/**
 * The version of every document: the newest, on which the next change builds, and the published one, which is durable
 * and the only one that anybody else sees. They differ only while a commit is under way.
 */
export class VersionStore {
  readonly handles: HandleCache;
  readonly digest = new Digest();
  readonly #published: Map<DocumentKey, Version>;
  readonly #inFlight = new Map<DocumentKey, InFlight>();
  readonly #log: CommitLog;
  readonly #listeners: Listeners<Published>;
  #bytes = 0;
  #tombstones = 0;
  #isClosed = false;

  constructor(options: VersionStoreOptions) {
    const { storage, found, handles, log, slackBytes } = options;
    this.handles = handles;
    this.#listeners = new Listeners(log);
    this.#published = new Map();
    for (const [key, version] of found.versions) this.#place(key, version);
    this.#log = new CommitLog(found.open, {
      storage,
      log,
      state: () => this.#records(),
      stateBytes: () => this.#bytes,
      ...(slackBytes === undefined ? {} : { slackBytes }),
    });
  }

  published(key: DocumentKey): Version | undefined {
    return this.#published.get(key);
  }

  newest(key: DocumentKey): Version | undefined {
    const inFlight = this.#inFlight.get(key);
    return inFlight ? inFlight.version : this.#published.get(key);
  }

  entries(): IterableIterator<[DocumentKey, Version]> {
    return this.#published.entries();
  }

  get byteLength(): number {
    return this.#bytes;
  }

  /** The listener is told of each version when it is published, in order. */
  onPublished(listener: (change: Published) => void): () => void {
    return this.#listeners.add(listener);
  }

  /** Resolves when the newest version of the document is durable. */
  async settled(key: DocumentKey): Promise<void> {
    await this.#inFlight.get(key)?.done;
  }

  /** Resolves when the step is durable and published. If it rejects, it and all that was built on it is taken back. */
  async commit(step: Step): Promise<void> {
    this.throwIfClosed();
    const done = Promise.withResolvers<void>();
    const inFlight: InFlight = { version: step.after, done: done.promise };
    this.#inFlight.set(step.key, inFlight);
    const settle = (problem?: DocumentError) => {
      if (problem) this.#takeBack(step.key);
      else this.#publish(step, inFlight);
      if (problem) done.reject(problem);
      else done.resolve();
    };
    this.#log.append({ record: step.record, settle });
    return done.promise;
  }

  throwIfClosed(): void {
    if (this.#isClosed) throw new DocumentError("closed", "the documents are closed");
  }

  stats(): DocumentStats {
    const problem = this.#log.problem?.message;
    return {
      documents: this.#published.size - this.#tombstones,
      tombstones: this.#tombstones,
      bytes: this.#bytes,
      fileBytes: this.#log.size,
      ...(problem === undefined ? {} : { problem }),
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#log.close();
    this.handles.clear();
  }

  #publish(step: Step, inFlight: InFlight): void {
    const { key, after, origin } = step;
    const before = this.#published.get(key);
    this.#place(key, after);
    if (this.#inFlight.get(key) === inFlight) this.#inFlight.delete(key);
    this.#listeners.tell({
      key,
      ...(before ? { before } : {}),
      ...(after ? { after } : {}),
      ...(origin === undefined ? {} : { origin }),
    });
  }

  #takeBack(key: DocumentKey): void {
    this.#inFlight.delete(key);
    this.handles.drop(key);
    this.handles.renewActor();
  }

  #place(key: DocumentKey, after: Version | undefined): void {
    const before = this.#published.get(key);
    this.digest.replace(key, before, after);
    this.#count(before, -1);
    this.#count(after, 1);
    if (after) this.#published.set(key, after);
    else this.#published.delete(key);
  }

  #count(version: Version | undefined, sign: 1 | -1): void {
    if (!version) return;
    if (version.kind === "tombstone") this.#tombstones += sign;
    this.#bytes += sign * (version.kind === "live" ? version.byteLength : 100);
  }

  *#records(): Generator<LogRecord> {
    for (const [key, version] of this.#published) yield recordOf(key, version);
  }
}
