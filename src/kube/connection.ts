import type { TLSSocket } from "node:tls";
import type { ConnectionConfig } from "./connection-config.ts";
import { createDial, type Dial } from "./dial.ts";
import { Http1 } from "./http1.ts";
import { type Http2Options, type Http2Session, openHttp2 } from "./http2.ts";
import { type HttpAnswer, type HttpRequest, type Transport, TransportError } from "./transport.ts";

const maxSessions = 8;
const maxAttempts = 4;

export interface ConnectionOptions {
  /** Name lookup, TCP, TLS and the first settings together. Default 10 s. */
  readonly connectTimeoutMs?: number;
  /** Default 2 s. */
  readonly pingAfterMs?: number;
  /** Default 3 s. */
  readonly pingTimeoutMs?: number;
}

/**
 * The connection to one server: one HTTP/2 session, opened by the first request. When the server takes leave the
 * next request opens another, while streams on the old one go on. More sessions only when the server's stream limit
 * is reached. Whether the server speaks HTTP/2 at all is found out at connect.
 */
export class Connection implements Transport {
  readonly #dial: Dial;
  readonly #http1: Http1;
  readonly #http2Options: Http2Options;
  readonly #connectTimeoutMs: number;
  readonly #closing = new AbortController();
  readonly #sessions = new Set<Http2Session>();
  #speaksHttp1 = false;
  #opening: Promise<void> | undefined;
  #change: PromiseWithResolvers<void> | undefined;

  constructor(config: ConnectionConfig, options: ConnectionOptions = {}) {
    this.#dial = createDial(config);
    this.#connectTimeoutMs = options.connectTimeoutMs ?? 10_000;
    this.#http1 = new Http1(config.server, () => this.#connect(["http/1.1"], async (socket) => socket));
    this.#http2Options = {
      server: config.server,
      pingAfterMs: options.pingAfterMs ?? 2_000,
      pingTimeoutMs: options.pingTimeoutMs ?? 3_000,
      onChange: () => this.#sessionChanged(),
    };
  }

  open(): void {
    if (this.#closing.signal.aborted || this.#opening || this.#carrier()) return;
    this.#open().catch(() => undefined);
  }

  async send(request: HttpRequest): Promise<HttpAnswer> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#sendOnce(request);
      } catch (error) {
        this.#speaksHttp1 = this.#speaksHttp1 && !(error instanceof TransportError);
        if (!mayRepeat(error, request, attempt)) throw error;
      }
    }
  }

  close(): void {
    const reason = new TransportError({ kind: "unreachable", detail: "client closed" });
    this.#closing.abort(reason);
    for (const session of this.#sessions) session.destroy(reason);
    this.#http1.destroy();
  }

  /** No await between finding a carrier and using it: the room it has would be gone. */
  #sendOnce(request: HttpRequest): Promise<HttpAnswer> {
    return this.#carrier()?.send(request) ?? this.#sendLater(request);
  }

  async #sendLater(request: HttpRequest): Promise<HttpAnswer> {
    for (;;) {
      const carrier = this.#carrier();
      if (carrier) return await carrier.send(request);
      await orAbort(this.#opening ?? (this.#mayOpen() ? this.#open() : this.#nextChange()), request.signal);
    }
  }

  #carrier(): Pick<Transport, "send"> | undefined {
    this.#closing.signal.throwIfAborted();
    if (this.#speaksHttp1) return this.#http1;
    for (const session of this.#sessions) if (session.isUsable && session.hasRoom) return session;
    return undefined;
  }

  #mayOpen(): boolean {
    return [...this.#sessions].filter((session) => session.isUsable).length < maxSessions;
  }

  #nextChange(): Promise<void> {
    this.#change ??= Promise.withResolvers<void>();
    return this.#change.promise;
  }

  #open(): Promise<void> {
    this.#opening = this.#connect(["h2", "http/1.1"], (socket, signal) => this.#start(socket, signal)).finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #start(socket: TLSSocket, signal: AbortSignal): Promise<void> {
    this.#speaksHttp1 = socket.alpnProtocol !== "h2";
    if (this.#speaksHttp1) this.#http1.adopt(socket);
    else this.#sessions.add(await openHttp2(socket, signal, this.#http2Options));
  }

  async #connect<T>(
    protocols: readonly string[],
    use: (socket: TLSSocket, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const timeout = new AbortController();
    const reason = new TransportError({ kind: "unreachable", detail: "connect timeout" });
    const timer = setTimeout(() => timeout.abort(reason), this.#connectTimeoutMs).unref();
    const signal = AbortSignal.any([timeout.signal, this.#closing.signal]);
    try {
      return await use(await this.#dial(protocols, signal), signal);
    } finally {
      clearTimeout(timer);
    }
  }

  #sessionChanged(): void {
    for (const session of this.#sessions) if (session.isOver) this.#sessions.delete(session);
    this.#change?.resolve();
    this.#change = undefined;
  }
}

/** A request goes out again only if the server did not see it, or if it reads and met a connection just closed. */
function mayRepeat(error: unknown, request: HttpRequest, attempt: number): boolean {
  if (!(error instanceof TransportError) || request.signal.aborted) return false;
  const { unprocessed, staleConnection } = error.facts;
  if (unprocessed) return attempt < maxAttempts;
  return Boolean(staleConnection) && request.method === "GET" && attempt === 1;
}

async function orAbort(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort);
  try {
    await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
