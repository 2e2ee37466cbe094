/** A document as it is read: its id and its content as JSON text, the keys of objects in order. */
export interface StoredDocument {
  readonly id: string;
  readonly json: string;
}

/** What happened to one document, whoever wrote it. `json` is the whole document after the change. */
export type DocumentChange =
  | { readonly kind: "upsert"; readonly collection: string; readonly id: string; readonly json: string }
  | { readonly kind: "delete"; readonly collection: string; readonly id: string };

/** Which changes a subscriber wants. */
export interface DocumentQuery {
  /** Only these collections; without it every collection. */
  readonly collections?: readonly string[];
  /** First every document there is, as upserts, before `subscribe` returns. */
  readonly snapshot?: boolean;
}

/** The documents of this node. What others see of it is only what is durable. */
export interface Documents {
  /**
   * Makes the document equal to `json` (any JSON text); fields that do not differ are not touched, so that changes
   * of other nodes to them stay. Resolves when it is durable, rejects with a `DocumentError`.
   */
  put(collection: string, id: string, json: string): Promise<void>;
  get(collection: string, id: string): Promise<string | undefined>;
  /** Resolves, when it is durable, with whether there was a document. Wins over changes that have not seen it. */
  delete(collection: string, id: string): Promise<boolean>;
  /** Sorted by id. */
  list(collection: string): Promise<readonly StoredDocument[]>;
  /** Names of the collections that have a document, sorted. */
  collections(): readonly string[];
  /** Calls the listener for each change from now on, in the order they became durable. Returns what ends it. */
  subscribe(query: DocumentQuery, listener: (change: DocumentChange) => void): () => void;
  stats(): DocumentStats;
  /** Waits for what was begun; later calls reject. */
  close(): Promise<void>;
}

export interface DocumentStats {
  readonly documents: number;
  /** Deletions that are still remembered. */
  readonly tombstones: number;
  /** Bytes of all documents with their history. */
  readonly bytes: number;
  /** Size of the file they are in. */
  readonly fileBytes: number;
  /** Why the last write failed; absent when it succeeded. */
  readonly problem?: string;
}

/**
 * Why a call failed. `invalid`: what was passed; `too-large`: the document or the store has reached a limit;
 * `storage`: the disk refused; `corrupt`: the data directory is damaged; `in-use`: another process has it.
 */
export type DocumentErrorKind = "invalid" | "too-large" | "storage" | "corrupt" | "in-use" | "closed";

export class DocumentError extends Error {
  override readonly name = "DocumentError";
  readonly kind: DocumentErrorKind;

  constructor(kind: DocumentErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
