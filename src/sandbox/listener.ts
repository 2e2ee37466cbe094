import { once } from "node:events";
import { createSecureServer, type Http2SecureServer, type ServerHttp2Session } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import type { ServingCertificate } from "./certificates.ts";
import type { ServerAnswer, ServerRequest } from "./exchange.ts";

export type RequestHandler = (request: ServerRequest, answer: ServerAnswer) => Promise<void>;

/** A TLS listener on 127.0.0.1 for HTTP/2 and HTTP/1.1 that keeps its port when it stops and starts again. */
export class Listener {
  readonly #certificate: ServingCertificate;
  readonly #handler: RequestHandler;
  readonly #sockets = new Set<Socket>();
  readonly #sessions = new Set<ServerHttp2Session>();
  #server: Http2SecureServer | undefined;
  #port = 0;

  constructor(certificate: ServingCertificate, handler: RequestHandler) {
    this.#certificate = certificate;
    this.#handler = handler;
  }

  get url(): string {
    return `https://127.0.0.1:${this.#port}`;
  }

  async start(): Promise<void> {
    if (this.#server) return;
    const server = this.#create();
    server.listen(this.#port, "127.0.0.1");
    await once(server, "listening");
    this.#server = server;
    this.#port = (server.address() as AddressInfo).port;
  }

  /** Refuses new connections and breaks the open ones. */
  async stop(): Promise<void> {
    const server = this.#server;
    if (!server) return;
    this.#server = undefined;
    const closed = once(server, "close");
    server.close();
    for (const session of this.#sessions) session.destroy();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** Tells every HTTP/2 client to use a new connection; streams that are open stay so. */
  goaway(): void {
    for (const session of this.#sessions) session.goaway();
  }

  #create(): Http2SecureServer {
    const { certificatePem, keyPem } = this.#certificate;
    const server = createSecureServer({
      allowHTTP1: true,
      cert: certificatePem,
      key: keyPem,
      http1Options: { keepAliveTimeout: 120_000 },
      settings: { maxConcurrentStreams: 1000 },
    });
    server.on("request", (request, response) => {
      const answer = response as unknown as ServerAnswer;
      answer.on("error", () => undefined);
      this.#handler(request, answer).catch(() => answer.destroy());
    });
    // A client may stop in the middle of its TLS handshake: the bare connection counts too.
    track(server, "connection", this.#sockets);
    track(server, "secureConnection", this.#sockets);
    track(server, "session", this.#sessions);
    server.on("sessionError", () => undefined);
    server.on("tlsClientError", () => undefined);
    server.setTimeout(0);
    return server;
  }
}

interface Closing {
  on(event: "error" | "close", listener: () => void): unknown;
}

function track<T extends Closing>(server: Http2SecureServer, event: string, set: Set<T>): void {
  server.on(event, (item: T) => {
    set.add(item);
    item.on("error", () => undefined);
    item.on("close", () => set.delete(item));
  });
}
