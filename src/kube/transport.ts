import type { Readable } from "node:stream";

/** One HTTP request. `signal` ends it at any stage, its body included; it belongs to this request alone. */
export interface HttpRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
}

/** The head of an answer and its bytes as they arrive. Destroying `body` gives the answer up. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable;
}

/** Sends requests to one server. Every failure is a `TransportError`, or the reason of the request's signal. */
export interface Transport {
  /** Connects, unless that has been done. What goes wrong, the next request meets. */
  open(): void;
  send(request: HttpRequest): Promise<HttpAnswer>;
  /** Ends every open request and connection; later requests fail. */
  close(): void;
}

export interface TransportErrorFacts {
  readonly kind: "unreachable" | "timeout" | "server";
  /** Our own words. */
  readonly detail: string;
  /** The server has certainly not acted on the request. */
  readonly unprocessed?: boolean;
  /** The connection had served before: the server may just have closed it. */
  readonly staleConnection?: boolean;
}

export class TransportError extends Error {
  override readonly name = "TransportError";
  readonly facts: TransportErrorFacts;

  constructor(facts: TransportErrorFacts) {
    super(facts.detail);
    this.facts = facts;
  }
}
