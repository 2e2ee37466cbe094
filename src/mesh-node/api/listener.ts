import { chmodSync, existsSync, lstatSync, rmSync } from "node:fs";
import { createServer as createHttp1 } from "node:http";
import { createServer as createHttp2 } from "node:http2";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { dirname } from "node:path";
import type { connectNodeAdapter } from "@connectrpc/connect-node";
import { ListenError } from "../../runtime/http-server.ts";
import type { Logger } from "../../runtime/log.ts";
import { formatListen, type ListenTarget } from "../config/config.ts";
import { speaksHttp2 } from "../links/preface.ts";
import { guardSession, type SessionLimits, usualSession } from "./http2-session.ts";

/** Answers requests of both protocols. */
export type Handle = ReturnType<typeof connectNodeAdapter>;

export interface ListenerOptions {
  readonly target: ListenTarget;
  readonly handle: Handle;
  readonly log: Logger;
  /** A client has so long to send its first bytes, and then its headers. */
  readonly headersWithinMs?: number;
  readonly session?: SessionLimits;
}

/** One address that speaks HTTP/1.1 and HTTP/2 without TLS. */
export interface Listener {
  /** As `--listen` takes it, with the port that was found. */
  readonly address: string;
  /** Takes no more connections, lets what is under way end, and after `withinMs` ends what has not. */
  stop(withinMs: number): Promise<void>;
}

const limits = { requestTimeout: 120_000, keepAliveTimeout: 300_000, maxHeaderSize: 16_384 };
const http2Limits = { maxConcurrentStreams: 128, maxHeaderListSize: 16_384 };
const mostConnections = 1024;
const tcpKeepAliveMs = 30_000;

/** Rejects with a `ListenError` when the address cannot be had. */
export async function startListener(options: ListenerOptions): Promise<Listener> {
  const { target, log, headersWithinMs = 30_000 } = options;
  const protocols = createProtocols(options);
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: tcpKeepAliveMs }, (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    speaksHttp2(socket, headersWithinMs).then(
      (isHttp2) => (isHttp2 ? protocols.http2 : protocols.http1).emit("connection", socket),
      () => socket.destroy(),
    );
  });
  server.maxConnections = mostConnections;
  await freeStaleSocket(target);
  await listening(server, target);
  server.on("error", (error) => log.error("listener failed", { error: error.message }));
  return { address: boundAddress(server, target), stop: (withinMs) => stop({ server, protocols, sockets }, withinMs) };
}

interface Protocols {
  readonly http1: ReturnType<typeof createHttp1>;
  readonly http2: ReturnType<typeof createHttp2>;
  /** Says goodbye on every HTTP/2 connection. */
  readonly closeSessions: () => void;
}

function createProtocols(options: ListenerOptions): Protocols {
  const { handle, headersWithinMs = 30_000, session: sessionLimits = usualSession } = options;
  const timing = { headersTimeout: headersWithinMs, connectionsCheckingInterval: Math.min(5_000, headersWithinMs) };
  const http1 = createHttp1({ ...limits, ...timing }, handle);
  // A server that does not listen itself begins to watch over its connections only when it is told that it does.
  http1.emit("listening");
  const http2 = createHttp2({ settings: http2Limits }, handle);
  const sessions = new Set<{ close(): void }>();
  http2.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    guardSession(session, sessionLimits);
  });
  const closeSessions = (): void => {
    for (const session of sessions) session.close();
  };
  return { http1, http2, closeSessions };
}

interface Stopping {
  readonly server: Server;
  readonly protocols: Protocols;
  readonly sockets: ReadonlySet<Socket>;
}

async function stop({ server, protocols, sockets }: Stopping, withinMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  protocols.closeSessions();
  protocols.http1.close();
  // A client may keep its connection for a next request, which would never be taken.
  const sweeper = setInterval(() => protocols.http1.closeIdleConnections(), 50);
  const timer = setTimeout(() => {
    for (const socket of sockets) socket.destroy();
  }, withinMs);
  await closed;
  clearInterval(sweeper);
  clearTimeout(timer);
}

function listening(server: Server, target: ListenTarget): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException): void =>
      reject(new ListenError(formatListen(target), whyNot(error, target)));
    server.once("error", fail);
    server.listen(target.kind === "unix" ? { path: target.path } : { host: target.host, port: target.port }, () => {
      server.off("error", fail);
      if (target.kind === "unix") chmodSync(target.path, 0o660);
      resolve();
    });
  });
}

const causes: Readonly<Record<string, string>> = {
  EADDRINUSE: "it is in use",
  EACCES: "it needs more rights",
  EADDRNOTAVAIL: "this machine has no such address",
  ENOTFOUND: "its host has no address",
};

function whyNot({ code = "", message }: NodeJS.ErrnoException, target: ListenTarget): string {
  if (target.kind === "unix" && !existsSync(dirname(target.path))) return "its folder does not exist";
  return causes[code] ?? (code || message);
}

function boundAddress(server: Server, target: ListenTarget): string {
  if (target.kind === "unix") return formatListen(target);
  const { address, port } = server.address() as AddressInfo;
  return formatListen({ kind: "tcp", host: address, port });
}

/** A node that was killed leaves its socket behind. One that answers belongs to somebody, and stays. */
async function freeStaleSocket(target: ListenTarget): Promise<void> {
  if (target.kind !== "unix" || !lstatSync(target.path, { throwIfNoEntry: false })?.isSocket()) return;
  const isAnswered = await new Promise<boolean>((resolve) => {
    const probe = connect(target.path, () => resolve(true));
    probe.once("connect", () => probe.destroy());
    probe.once("error", () => resolve(false));
  });
  if (!isAnswered) rmSync(target.path, { force: true });
}
