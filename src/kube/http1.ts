import type { IncomingMessage } from "node:http";
import { Agent, type RequestOptions, request as startRequest } from "node:https";
import { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { asTransportError } from "./failure-words.ts";
import { type HttpAnswer, type HttpRequest, TransportError } from "./transport.ts";

const maxSockets = 64;

/** HTTP/1.1 over kept connections, for servers and proxies without HTTP/2. A watch has its connection for itself. */
export class Http1 {
  readonly #agent: Agent;
  readonly #server: URL;
  #spare: TLSSocket | undefined;

  constructor(server: string, dial: () => Promise<TLSSocket>) {
    this.#server = new URL(server);
    this.#agent = new Agent({ keepAlive: true, maxSockets });
    this.#agent.createConnection = (_options, callback) => {
      this.#connect(dial).then(
        (socket) => callback?.(null, socket),
        (error) => callback?.(error, new Socket()),
      );
      return undefined;
    };
  }

  /** Gives it a connected socket, which the next request takes. */
  adopt(socket: TLSSocket): void {
    this.#spare?.destroy();
    this.#spare = socket;
  }

  async send(request: HttpRequest): Promise<HttpAnswer> {
    request.signal.throwIfAborted();
    const { method, path, headers, body } = request;
    const { hostname, port, host } = this.#server;
    const options: RequestOptions = {
      agent: this.#agent,
      host: hostname.replace(/^\[|\]$/g, ""),
      port: port || 443,
      method,
      path,
      headers: { ...headers, host, ...(body !== undefined && { "content-length": Buffer.byteLength(body) }) },
    };
    const outgoing = startRequest(options);
    request.signal.addEventListener("abort", () => outgoing.destroy());
    return await new Promise((resolve, reject) => {
      outgoing.once("response", (answer) => resolve(asAnswer(answer)));
      outgoing.on("error", (error) =>
        reject(request.signal.aborted ? request.signal.reason : failure(error, outgoing.reusedSocket)),
      );
      outgoing.end(body);
    });
  }

  destroy(): void {
    this.#spare?.destroy();
    this.#agent.destroy();
  }

  async #connect(dial: () => Promise<TLSSocket>): Promise<TLSSocket> {
    const spare = this.#spare;
    this.#spare = undefined;
    return spare && !spare.destroyed ? spare : await dial();
  }
}

function asAnswer(message: IncomingMessage): HttpAnswer {
  message.on("error", () => undefined);
  return { status: message.statusCode ?? 0, headers: message.headers, body: message };
}

function failure(error: Error, isReused: boolean): TransportError {
  const { kind, detail } = asTransportError(error).facts;
  return new TransportError({ kind, detail, staleConnection: isReused && !(error instanceof TransportError) });
}
