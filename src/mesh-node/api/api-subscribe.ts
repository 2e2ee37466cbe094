import { Code, ConnectError } from "@connectrpc/connect";
import type { DocumentChange as Change, Documents } from "../documents/documents.ts";
import { ChangeType } from "../gen/peat/sidecar/v1/sidecar_pb.ts";

/** So far a subscriber may fall behind, besides what was there when it came. */
export interface BacklogLimit {
  readonly changes: number;
  readonly bytes: number;
}

const usual: BacklogLimit = { changes: 10_000, bytes: 64 * 1024 * 1024 };

/**
 * What the named collections hold, then every change of them; every change of all when none is named. Ends with the
 * signal's reason, or with ResourceExhausted when the subscriber does not keep up, so that it never misses one unknowingly.
 */
export async function* follow(
  documents: Pick<Documents, "subscribe">,
  collections: readonly string[],
  { signal, limit = usual }: { readonly signal: AbortSignal; readonly limit?: BacklogLimit },
) {
  const backlog = new Backlog(limit);
  const query = collections.length === 0 ? {} : { collections, snapshot: true };
  const unsubscribe = documents.subscribe(query, (change) => backlog.add(change));
  const wake = (): void => backlog.end();
  signal.addEventListener("abort", wake, { once: true });
  if (signal.aborted) wake();
  backlog.limitFromNow();
  try {
    for (let change = await backlog.next(); change; change = await backlog.next()) yield message(change);
    signal.throwIfAborted();
  } finally {
    signal.removeEventListener("abort", wake);
    unsubscribe();
  }
}

/** What is to be told and was not yet. */
class Backlog {
  readonly #limit: BacklogLimit;
  #changes: Change[] = [];
  #bytes = 0;
  #allowed: BacklogLimit = { changes: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };
  #state: "open" | "ended" | "overrun" = "open";
  #wake: () => void = () => undefined;

  constructor(limit: BacklogLimit) {
    this.#limit = limit;
  }

  /** What is here now does not count. */
  limitFromNow(): void {
    this.#allowed = {
      changes: this.#changes.length + this.#limit.changes,
      bytes: this.#bytes + this.#limit.bytes,
    };
  }

  add(change: Change): void {
    if (this.#state !== "open") return;
    this.#changes.push(change);
    this.#bytes += sizeOf(change);
    if (this.#changes.length > this.#allowed.changes || this.#bytes > this.#allowed.bytes) this.#stop("overrun");
    else this.#wake();
  }

  end(): void {
    this.#stop("ended");
  }

  /** The oldest change, when there is one; nothing at the end. */
  async next(): Promise<Change | undefined> {
    while (this.#state === "open" && this.#changes.length === 0)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    if (this.#state === "overrun")
      throw new ConnectError("the subscriber does not keep up; subscribe again", Code.ResourceExhausted);
    const change = this.#changes.shift();
    if (change) this.#bytes -= sizeOf(change);
    return change;
  }

  #stop(state: "ended" | "overrun"): void {
    if (this.#state === "open") this.#state = state;
    this.#changes = [];
    this.#wake();
  }
}

function sizeOf(change: Change): number {
  return change.kind === "upsert" ? change.json.length : 0;
}

function message(change: Change) {
  const { collection, id: docId } = change;
  if (change.kind === "delete") return { collection, docId, changeType: ChangeType.DELETE };
  return { collection, docId, changeType: ChangeType.UPSERT, jsonData: change.json };
}
