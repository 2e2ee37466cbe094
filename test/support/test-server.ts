import type { RequestListener } from "node:http";
import { createSecureServer, type ServerHttp2Session, type ServerHttp2Stream, type Settings } from "node:http2";
import { createServer } from "node:https";
import type { AddressInfo, Server, Socket } from "node:net";
import type { ConnectionConfig } from "../../src/kube/connection-config.ts";
import type { TestCertificates } from "./test-certificates.ts";

export interface TestServer {
  readonly port: number;
  /** How to reach it with the certificate it has. */
  readonly config: ConnectionConfig;
  /** How many connections were made so far. */
  connections(): number;
  /** How many of them are open. */
  openConnections(): number;
  /** Cuts every connection, as a lost network would. */
  cut(): void;
  /** Resets every connection, as a server that was restarted would. */
  reset(): void;
  close(): Promise<void>;
}

export interface Http2TestServer extends TestServer {
  /** Open HTTP/2 sessions, oldest first. */
  sessions(): readonly ServerHttp2Session[];
}

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export type StreamHandler = (stream: ServerHttp2Stream, received: Received) => void | Promise<void>;

/** A TLS server on 127.0.0.1 that speaks HTTP/2 and hands each stream to `handle`. */
export async function startHttp2Server(
  certificates: TestCertificates,
  handle: StreamHandler,
  { port, ...settings }: Settings & { readonly port?: number } = {},
): Promise<Http2TestServer> {
  const { certPem: cert, keyPem: key } = certificates.server;
  const server = createSecureServer({ cert, key, settings, allowHTTP1: false });
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("error", () => undefined).on("close", () => sessions.delete(session));
  });
  server.on("stream", (stream, headers) => {
    stream.on("error", () => undefined);
    const received = { method: headers[":method"] ?? "", path: headers[":path"] ?? "", headers };
    Promise.resolve(handle(stream, received)).catch((error) => stream.destroy(error));
  });
  const base = await listen(server, certificates, port);
  const close = () => {
    for (const session of sessions) session.destroy();
    return base.close();
  };
  return { ...base, close, sessions: () => [...sessions] };
}

/** A TLS server on 127.0.0.1 that speaks HTTP/1.1 only. */
export async function startHttp1Server(certificates: TestCertificates, handle: RequestListener): Promise<TestServer> {
  const { certPem: cert, keyPem: key } = certificates.server;
  return await listen(createServer({ cert, key }, handle), certificates);
}

/** Answers with JSON. */
export function answerJson(stream: ServerHttp2Stream, value: unknown, status = 200): void {
  stream.respond({ ":status": status, "content-type": "application/json" });
  stream.end(JSON.stringify(value));
}

/** Listens on a free port of 127.0.0.1 and keeps track of the connections. */
export async function listen(server: Server, certificates: TestCertificates, fixedPort = 0): Promise<TestServer> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on("connection", (socket) => {
    connections++;
    sockets.add(socket);
    socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
  });
  server.on("tlsClientError", () => undefined);
  await new Promise<void>((resolve) => server.listen(fixedPort, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  const reset = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  const close = () => {
    cut();
    return new Promise<void>((resolve) => void server.close(() => resolve()));
  };
  const config = { server: `https://127.0.0.1:${port}`, caPem: certificates.caPem, token: "t-0", compress: false };
  return { port, config, connections: () => connections, openConnections: () => sockets.size, cut, reset, close };
}
