import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";
import type { TLSSocket } from "node:tls";
import { asTransportError } from "./failure-words.ts";
import { type HttpAnswer, type HttpRequest, TransportError } from "./transport.ts";

/** The default of 64 KiB halves the throughput of a list. */
const windowBytes = 4 * 1024 * 1024;
const maxSessionMegabytes = 256;
const probesPerSilence = 6;

export interface Http2Options {
  readonly server: string;
  /** A session with open streams from which nothing was heard for so long is pinged. */
  readonly pingAfterMs: number;
  readonly pingTimeoutMs: number;
  /** Called whenever a stream ends and when the session does. */
  readonly onChange: () => void;
}

/** Starts HTTP/2 on a connected socket. Resolves with the server's settings, so its stream limit is known. */
export async function openHttp2(socket: TLSSocket, signal: AbortSignal, options: Http2Options): Promise<Http2Session> {
  const client = connect(options.server, {
    createConnection: () => socket,
    settings: { enablePush: false, initialWindowSize: windowBytes },
    maxSessionMemory: maxSessionMegabytes,
  });
  const session = new Http2Session(client, socket, options);
  await firstSettings(client, signal);
  client.setLocalWindowSize(windowBytes);
  return session;
}

async function firstSettings(client: ClientHttp2Session, signal: AbortSignal): Promise<void> {
  const settings = Promise.withResolvers<void>();
  const abort = () => client.destroy();
  client.once("remoteSettings", () => settings.resolve());
  client.once("error", (error) => settings.reject(asTransportError(error)));
  client.once("close", () => settings.reject(signal.aborted ? signal.reason : connectionLost()));
  signal.addEventListener("abort", abort);
  try {
    await settings.promise;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** One HTTP/2 connection. After GOAWAY it takes no more requests and ends with the last one it has. */
export class Http2Session {
  readonly #client: ClientHttp2Session;
  readonly #socket: TLSSocket;
  readonly #options: Http2Options;
  readonly #liveness: NodeJS.Timeout;
  #maxStreams = 0;
  #openStreams = 0;
  #served = 0;
  #leaving = false;
  #lastStreamId = Number.POSITIVE_INFINITY;
  #heardBytes = 0;
  #quietProbes = 0;
  #pinging = false;

  constructor(client: ClientHttp2Session, socket: TLSSocket, options: Http2Options) {
    this.#client = client;
    this.#socket = socket;
    this.#options = options;
    this.#liveness = setInterval(() => this.#probe(), options.pingAfterMs / probesPerSilence).unref();
    client.on("remoteSettings", (settings) => {
      this.#maxStreams = settings.maxConcurrentStreams ?? Number.POSITIVE_INFINITY;
      options.onChange();
    });
    client.on("goaway", (_code, lastStreamId) => {
      this.#leaving = true;
      this.#lastStreamId = lastStreamId;
      this.#changed();
    });
    client.on("error", () => undefined);
    // Node does not tell the session: a server that refuses our certificate would look silent.
    socket.on("error", (error) =>
      this.destroy(new TransportError({ ...asTransportError(error).facts, staleConnection: true })),
    );
    client.on("close", () => {
      clearInterval(this.#liveness);
      options.onChange();
    });
  }

  get isUsable(): boolean {
    return !(this.#leaving || this.#client.closed || this.#client.destroyed);
  }

  get isOver(): boolean {
    return this.#client.destroyed;
  }

  get hasRoom(): boolean {
    return this.#openStreams < this.#maxStreams;
  }

  send(request: HttpRequest): Promise<HttpAnswer> {
    request.signal.throwIfAborted();
    const stream = this.#openStream(request);
    const isReused = this.#served++ > 0;
    this.#openStreams++;
    stream.on("close", () => {
      this.#openStreams--;
      this.#changed();
    });
    endOnAbort(stream, request.signal);
    if (request.body !== undefined) stream.end(request.body);
    return answerOf(stream, (error) =>
      request.signal.aborted ? request.signal.reason : this.#failure(stream, error, isReused),
    );
  }

  /** Ends the session and all its streams, which fail with `reason`. */
  destroy(reason?: TransportError): void {
    this.#client.destroy(reason);
    // Node only half-closes the socket of a session that had GOAWAY, and waits for the other side for ever.
    if (reason) this.#socket.destroy();
    else this.#socket.destroySoon();
  }

  #changed(): void {
    if (this.#leaving && this.#openStreams === 0) this.destroy();
    this.#options.onChange();
  }

  #openStream(request: HttpRequest): ClientHttp2Stream {
    const { method, path, headers, body } = request;
    try {
      return this.#client.request({ ...headers, ":method": method, ":path": path }, { endStream: body === undefined });
    } catch (error) {
      if (this.isUsable) throw asTransportError(error);
      throw new TransportError({ kind: "unreachable", detail: "connection closed", unprocessed: true });
    }
  }

  #failure(stream: ClientHttp2Stream, error: unknown, isReused: boolean): TransportError {
    const isRefused = stream.rstCode === constants.NGHTTP2_REFUSED_STREAM;
    const unprocessed = isRefused || (stream.id ?? 0) > this.#lastStreamId;
    const { kind, detail } = (error === undefined ? connectionLost() : asTransportError(error)).facts;
    const staleConnection = isReused && !isDeliberate(error);
    return new TransportError({ kind, detail, unprocessed, staleConnection });
  }

  #probe(): void {
    const heardBytes = this.#socket.bytesRead;
    this.#quietProbes = heardBytes === this.#heardBytes ? this.#quietProbes + 1 : 0;
    this.#heardBytes = heardBytes;
    if (this.#quietProbes < probesPerSilence || this.#openStreams === 0) return;
    if (this.#pinging || this.#client.destroyed) return;
    this.#pinging = true;
    // The answer may have arrived while this process was busy: it is read before an immediate runs.
    const overdue = setTimeout(() => setImmediate(() => this.#giveUp(heardBytes)), this.#options.pingTimeoutMs).unref();
    this.#askForSign(() => {
      this.#pinging = false;
      clearTimeout(overdue);
    });
  }

  /** Node answers pings itself, without asking the server, after GOAWAY. Settings must be acknowledged as well. */
  #askForSign(answered: () => void): void {
    if (this.#client.closed) this.#client.settings({ enablePush: false }, answered);
    else this.#client.ping(answered);
  }

  /** Bytes that came meanwhile are as good as the answer to the ping, which may be queued behind them. */
  #giveUp(heardBytes: number): void {
    const isSilent = this.#pinging && this.#socket.bytesRead === heardBytes;
    this.#pinging = false;
    if (isSilent) this.destroy(new TransportError({ kind: "unreachable", detail: "no answer to a ping" }));
  }
}

function endOnAbort(stream: ClientHttp2Stream, signal: AbortSignal): void {
  signal.addEventListener("abort", () => {
    stream.close(constants.NGHTTP2_CANCEL);
    stream.destroy(new TransportError({ kind: "unreachable", detail: "given up" }));
  });
}

function answerOf(stream: ClientHttp2Stream, failure: (error: unknown) => unknown): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    let isAnswered = false;
    stream.on("response", (headers) => {
      isAnswered = true;
      resolve({ status: headers[":status"] ?? 0, headers, body: stream });
    });
    stream.on("close", () => isAnswered || reject(failure(undefined)));
    // Stays for the stream's life: an error nobody listens to would end the process.
    stream.on("error", (error) => reject(failure(error)));
  });
}

/** The session was ended by us, for a reason that a second try would meet again. */
function isDeliberate(error: unknown): boolean {
  return error instanceof TransportError && !error.facts.staleConnection;
}

function connectionLost(): TransportError {
  return new TransportError({ kind: "unreachable", detail: "connection lost" });
}
