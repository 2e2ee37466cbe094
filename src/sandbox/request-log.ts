import type { ApiVerb } from "./routes.ts";

export interface LoggedRequest {
  readonly verb: ApiVerb;
  /** `plural.group`, or the plural alone for the core group. */
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  /** The HTTP status; 0 when the connection was broken instead of answered. */
  readonly code: number;
  readonly userAgent: string;
  /** Milliseconds since the cluster started. */
  readonly atMs: number;
}

export type RequestFilter = Partial<Omit<LoggedRequest, "atMs">>;

const keptRequests = 100_000;

/** The requests for objects that a cluster has answered, the latest 100,000 of them. */
export class RequestLog {
  readonly #watches = new Set<LoggedRequest>();
  #entries: LoggedRequest[] = [];

  add(entry: LoggedRequest): void {
    this.#entries.push(entry);
    if (this.#entries.length >= 2 * keptRequests) this.#entries = this.#entries.slice(-keptRequests);
  }

  /** Marks a watch as open until the returned function is called. */
  open(entry: LoggedRequest): () => void {
    this.#watches.add(entry);
    return () => this.#watches.delete(entry);
  }

  all(filter: RequestFilter = {}): readonly LoggedRequest[] {
    return this.#entries.filter(matching(filter));
  }

  count(filter: RequestFilter = {}): number {
    return this.all(filter).length;
  }

  clear(): void {
    this.#entries = [];
  }

  openWatches(filter: RequestFilter = {}): number {
    return [...this.#watches].filter(matching(filter)).length;
  }
}

function matching(filter: RequestFilter): (entry: LoggedRequest) => boolean {
  const wanted = Object.entries(filter) as [keyof RequestFilter, unknown][];
  return (entry) => wanted.every(([field, value]) => entry[field] === value);
}
