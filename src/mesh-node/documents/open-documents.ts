import type { Clock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/log.ts";
import { type DirectoryLock, lockDirectory } from "./directory-lock.ts";
import { documentKey, splitKey } from "./document-key.ts";
import {
  type DocumentChange,
  DocumentError,
  type DocumentQuery,
  type DocumentStats,
  type Documents,
  type StoredDocument,
} from "./documents.ts";
import {
  type DocumentLimits,
  defaultLimits,
  type Editing,
  editDelete,
  editMerge,
  editPut,
  type RemoteVersion,
  readLimit,
} from "./edit.ts";
import { expireTombstones } from "./expiry.ts";
import { HandleCache } from "./handle-cache.ts";
import { openLog } from "./open-log.ts";
import { createPace } from "./pace.ts";
import { openDirectory, type Storage } from "./storage.ts";
import type { DocumentKey, LiveVersion } from "./version.ts";
import { type Published, VersionStore } from "./version-store.ts";

export interface DocumentsOptions {
  /** Created if it is missing. One process at a time. */
  readonly directory: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly limits?: Partial<DocumentLimits>;
  /** So long a deletion is remembered: a node that was away longer may bring the document back. Default 7 days. */
  readonly tombstoneTtlMs?: number;
  /** How often old deletions are looked for. Default 5 minutes. */
  readonly expireEveryMs?: number;
  /** `refuse` (default): a damaged file is an error. `salvage`: go on with what is readable, keep the file aside. */
  readonly onCorruption?: "refuse" | "salvage";
  /** The log is compacted when it has more than twice the bytes of the documents and this. Default 4 MiB. */
  readonly slackBytes?: number;
  /** For tests of what the disk may do. */
  readonly storage?: Storage;
}

/** Documents with what the synchronisation needs of them. */
export interface DocumentStore extends Documents {
  readonly versions: VersionStore;
  /**
   * Brings in what another node sent; `origin` is told with the publication. Throws a `MalformedError` when it is not
   * what it is said to be.
   */
  merge(remote: RemoteVersion, origin: unknown): RemoteMerge;
}

export interface RemoteMerge {
  readonly result: "merged" | "known" | "stale" | "missing";
  /** Resolves when it is durable, rejects when the disk refused. */
  readonly durable: Promise<void>;
}

/** Opens the documents of a data directory. Throws a `DocumentError` when it cannot be used. */
export async function openDocuments(options: DocumentsOptions): Promise<DocumentStore> {
  const { log } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const storage = options.storage ?? (await openDirectory(options.directory));
  const lock = await lockDirectory(storage.directory);
  if (!lock) log.warn("data directory not locked: its file system has no sockets");
  try {
    const handles = new HandleCache({ capacity: 128, maxJsonLength: readLimit(limits) });
    const onCorruption = options.onCorruption ?? "refuse";
    const verify = (version: LiveVersion) => handles.verified(version);
    const found = await openLog({ storage, log, onCorruption, verify });
    const { slackBytes } = options;
    const versions = new VersionStore({ storage, found, handles, log, ...(slackBytes ? { slackBytes } : {}) });
    return new OpenDocuments({ ...options, limits }, versions, lock);
  } catch (error) {
    await lock?.release();
    throw error;
  }
}

class OpenDocuments implements DocumentStore {
  readonly versions: VersionStore;
  readonly #options: DocumentsOptions & { readonly limits: DocumentLimits };
  readonly #lock: DirectoryLock | undefined;
  readonly #ending = new AbortController();
  readonly #background: Promise<unknown>;

  constructor(
    options: DocumentsOptions & { readonly limits: DocumentLimits },
    versions: VersionStore,
    lock: DirectoryLock | undefined,
  ) {
    this.#options = options;
    this.versions = versions;
    this.#lock = lock;
    const { clock, log, expireEveryMs = 5 * 60_000 } = options;
    const expiring = expireTombstones({
      editing: () => this.#editing(),
      clock,
      log,
      everyMs: expireEveryMs,
      signal: this.#ending.signal,
    });
    const reading = this.#readAhead().catch((error: unknown) =>
      log.warn("document not readable", { error: String(error) }),
    );
    this.#background = Promise.all([expiring, reading]);
  }

  async put(collection: string, id: string, json: string): Promise<void> {
    const key = documentKey(collection, id);
    const step = editPut(this.#editing(), key, parseJson(json, this.#options.limits.json));
    await (step ? this.versions.commit(step) : this.versions.settled(key));
  }

  async get(collection: string, id: string): Promise<string | undefined> {
    this.versions.throwIfClosed();
    const key = documentKey(collection, id);
    const version = this.versions.published(key);
    return version?.kind === "live" ? this.versions.handles.jsonOf(key, version) : undefined;
  }

  async delete(collection: string, id: string): Promise<boolean> {
    const step = editDelete(this.#editing(), documentKey(collection, id));
    if (step) await this.versions.commit(step);
    return step !== undefined;
  }

  async list(collection: string): Promise<readonly StoredDocument[]> {
    this.versions.throwIfClosed();
    const pace = createPace(this.#options.clock);
    const documents: StoredDocument[] = [];
    for (const [key, version] of this.#live((name) => name === collection)) {
      documents.push({ id: splitKey(key).id, json: this.versions.handles.jsonOf(key, version) });
      await pace();
    }
    return documents.sort(byId);
  }

  collections(): readonly string[] {
    const names = new Set<string>();
    for (const [key, version] of this.versions.entries())
      if (version.kind === "live") names.add(splitKey(key).collection);
    return [...names].sort();
  }

  subscribe(query: DocumentQuery, listener: (change: DocumentChange) => void): () => void {
    const wanted = query.collections && new Set(query.collections);
    const wants = (collection: string) => wanted?.has(collection) ?? true;
    if (query.snapshot) for (const [key, version] of this.#live(wants)) listener(this.#upsert(key, version));
    return this.versions.onPublished((published) => {
      const change = wants(splitKey(published.key).collection) ? this.#changeOf(published) : undefined;
      if (change) listener(change);
    });
  }

  merge(remote: RemoteVersion, origin: unknown): RemoteMerge {
    const merge = editMerge(this.#editing(), remote);
    const durable =
      merge.result === "merged" ? this.versions.commit({ ...merge.step, origin }) : this.versions.settled(remote.key);
    return { result: merge.result, durable };
  }

  stats(): DocumentStats {
    return this.versions.stats();
  }

  async close(): Promise<void> {
    if (this.#ending.signal.aborted) return;
    this.#ending.abort();
    await this.#background;
    await this.versions.close();
    await this.#lock?.release();
  }

  #editing(): Editing {
    this.versions.throwIfClosed();
    const { limits, clock, tombstoneTtlMs = 7 * 24 * 3_600_000 } = this.#options;
    return { versions: this.versions, limits, nowMs: clock.date().getTime(), tombstoneTtlMs };
  }

  #live(wants: (collection: string) => boolean): [DocumentKey, LiveVersion][] {
    const found: [DocumentKey, LiveVersion][] = [];
    for (const [key, version] of this.versions.entries())
      if (version.kind === "live" && wants(splitKey(key).collection)) found.push([key, version]);
    return found;
  }

  #changeOf({ key, before, after }: Published): DocumentChange | undefined {
    if (after?.kind === "live") return this.#upsert(key, after);
    return before?.kind === "live" ? { kind: "delete", ...splitKey(key) } : undefined;
  }

  #upsert(key: DocumentKey, version: LiveVersion): DocumentChange {
    return { kind: "upsert", ...splitKey(key), json: this.versions.handles.jsonOf(key, version) };
  }

  /** Reads every document once, a little at a time: the first list or subscription need not wait for all of them. */
  async #readAhead(): Promise<void> {
    const pace = createPace(this.#options.clock, 5);
    for (const [key, version] of this.#live(() => true)) {
      if (this.#ending.signal.aborted) return;
      if (this.versions.published(key) === version) this.versions.handles.jsonOf(key, version);
      await pace();
    }
  }
}

function parseJson(json: string, maxBytes: number): unknown {
  if (Buffer.byteLength(json) > maxBytes)
    throw new DocumentError("too-large", `the document has more than ${maxBytes} bytes`);
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new DocumentError("invalid", "the document is not JSON", { cause: error });
  }
}

const byId = (one: StoredDocument, other: StoredDocument): number => (one.id < other.id ? -1 : 1);
