import {
  type Doc,
  decodeSyncMessage,
  free,
  generateSyncMessage,
  getHeads,
  initSyncState,
  load,
  receiveSyncMessage,
  type SyncState,
  saveSince,
} from "@automerge/automerge";
import { MalformedError } from "./bytes.ts";
import { type Heads, type LiveVersion, sameHeads } from "./version.ts";

/** What one received message brought: the changes since `base`, if any. */
export interface Received {
  readonly base: Heads;
  readonly heads: Heads;
  readonly bytes: Uint8Array;
}

/** What to tell the peer, if it is our turn. With `isLast` both have the same and the reconciliation is over. */
export interface NextMessage {
  readonly message?: Uint8Array;
  readonly isLast: boolean;
}

/**
 * Finds out, with Automerge's own protocol, which changes each of two nodes lacks of a document that both have changed.
 * It works on a copy: what the store learns otherwise meanwhile is sent otherwise.
 */
export class Reconciliation {
  readonly generation: number;
  #doc: Doc<unknown>;
  #state: SyncState = initSyncState();
  #theirs: Heads | undefined;

  constructor(version: LiveVersion) {
    this.generation = version.generation;
    this.#doc = load(Buffer.concat(version.chunks));
  }

  /** Throws a `MalformedError` when it is not a message of the protocol. */
  receive(message: Uint8Array): Received {
    const base = this.#heads();
    try {
      this.#theirs = decodeSyncMessage(message).heads.sort();
      [this.#doc, this.#state] = receiveSyncMessage(this.#doc, this.#state, message);
    } catch (error) {
      throw new MalformedError("a message of the reconciliation cannot be read", { cause: error });
    }
    const heads = this.#heads();
    const bytes = sameHeads(base, heads) ? new Uint8Array() : saveSince(this.#doc, [...base]);
    return { base, heads, bytes };
  }

  next(): NextMessage {
    const isLast = this.#theirs !== undefined && sameHeads(this.#theirs, this.#heads());
    const [state, message] = generateSyncMessage(this.#doc, this.#state);
    this.#state = state;
    return message ? { message, isLast } : { isLast };
  }

  end(): void {
    free(this.#doc);
  }

  #heads(): Heads {
    return getHeads(this.#doc).sort();
  }
}
