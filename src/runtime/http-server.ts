import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, isIPv6, type Server } from "node:net";
import { closeIdleWhenFull } from "./idle-connections.ts";
import type { Logger } from "./log.ts";

/** Where to listen. An empty host is every address of the machine, port 0 any free one. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** What each path answers to GET. */
export type Routes = Readonly<Record<string, () => HttpAnswer | Promise<HttpAnswer>>>;

export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

export interface HttpServerOptions {
  readonly address: ListenAddress;
  readonly routes: Routes;
  readonly log: Logger;
  readonly tls?: TlsFiles;
}

export interface HttpServer {
  /** `host:port` as it is, with the port that was found. */
  readonly address: string;
  /** From now on new connections get this certificate. Throws when it is none. */
  useTls(tls: TlsFiles): void;
  stop(): Promise<void>;
}

/** The address cannot be had. `why` is for a person. */
export class ListenError extends Error {
  override readonly name = "ListenError";
  readonly address: string;
  readonly why: string;

  constructor(address: string, why: string) {
    super(`cannot listen on ${address}: ${why}`);
    this.address = address;
    this.why = why;
  }
}

/** `:8080`, `127.0.0.1:8080`, `[::]:8080`; `0` is off. What is none of them is an error that says so. */
export function parseListenAddress(text: string): ListenAddress | "off" {
  if (text === "0") return "off";
  const found = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9.-]*)):(0|[1-9]\d{0,4})$/.exec(text);
  const [, v6, name, digits] = found ?? [];
  const port = Number(digits);
  if (!found || port > 65_535 || (v6 !== undefined && !isIPv6(v6)))
    throw new Error("give :PORT, HOST:PORT, [IPV6]:PORT, or 0 for none");
  return { host: v6 ?? name ?? "", port };
}

export function formatListenAddress({ host, port }: ListenAddress): string {
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

/** These servers answer small questions from nearby; what is slow or many is not one of them. */
const limits = { headersTimeout: 5_000, requestTimeout: 10_000, keepAliveTimeout: 60_000, maxHeaderSize: 16_384 };
const mostConnections = 100;

/** Serves `routes` until it is stopped. Rejects with a `ListenError` when the address cannot be had. */
export async function startHttpServer({ address, routes, log, tls }: HttpServerOptions): Promise<HttpServer> {
  const handle = (request: IncomingMessage, response: ServerResponse): void =>
    void answer(request, { routes, log }).then((given) => send(request, response, given));
  const secure = tls && createTlsServer({ ...limits, ...tls }, handle);
  const server = secure ?? createServer(limits, handle);
  server.maxConnections = mostConnections;
  // With TLS the connections of requests are others than those that were accepted; probes do not use it.
  if (!secure) closeIdleWhenFull(server);
  await listening(server, address);
  server.on("error", (error) => log.error("http server failed", { error: error.message }));
  return {
    address: boundAddress(server),
    useTls: (files) => secure?.setSecureContext({ ...files }),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listening(server: Server, address: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException): void =>
      reject(new ListenError(formatListenAddress(address), whyNot(error)));
    server.once("error", fail);
    const { host, port } = address;
    server.listen({ port, ...(host !== "" && { host }) }, () => {
      server.off("error", fail);
      resolve();
    });
  });
}

function whyNot({ code, message }: NodeJS.ErrnoException): string {
  if (code === "EADDRINUSE") return "the port is in use";
  if (code === "EACCES") return "the port needs more rights";
  if (code === "EADDRNOTAVAIL") return "this machine has no such address";
  return code ?? message;
}

function boundAddress(server: Server): string {
  const { address, port } = server.address() as AddressInfo;
  return formatListenAddress({ host: address, port });
}

type Answering = Pick<HttpServerOptions, "routes" | "log">;

const plain = (status: number, body: string): HttpAnswer => ({ status, type: "text/plain; charset=utf-8", body });

async function answer({ method, url = "" }: IncomingMessage, { routes, log }: Answering): Promise<HttpAnswer> {
  const path = url.split("?", 1)[0] ?? "";
  const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
  if (!route) return plain(404, "not found\n");
  if (method !== "GET" && method !== "HEAD") return plain(405, "only GET\n");
  try {
    return await route();
  } catch (error) {
    log.error("bug in an http answer", { path, stack: error instanceof Error ? error.stack : String(error) });
    return plain(500, "failed\n");
  }
}

function send(request: IncomingMessage, response: ServerResponse, { status, type, body }: HttpAnswer): void {
  request.resume();
  const headers = { "content-type": type, "content-length": Buffer.byteLength(body), "cache-control": "no-store" };
  const allow = status === 405 ? { allow: "GET, HEAD" } : {};
  response.writeHead(status, { ...headers, ...allow, "x-content-type-options": "nosniff" });
  response.end(request.method === "HEAD" ? undefined : body);
}
