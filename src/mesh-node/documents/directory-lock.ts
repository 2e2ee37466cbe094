import { once } from "node:events";
import { open, rename, rm } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { DocumentError } from "./documents.ts";
import { storageError } from "./storage.ts";

export interface DirectoryLock {
  release(): Promise<void>;
}

const lockName = "documents.lock";
const maxSocketPathBytes = 100;
const unsupported = new Set(["ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EINVAL"]);

/**
 * Keeps other processes of this machine out of a directory, by a socket in it that only a living process listens on:
 * what a killed one leaves behind is recognised and replaced. `undefined` when the file system knows no sockets.
 */
export async function lockDirectory(directory: string): Promise<DirectoryLock | undefined> {
  const place = await shortPath(directory);
  try {
    const server = await listenInPlaceOfTheDead(place.path);
    return { release: () => release(server, place) };
  } catch (error) {
    await place.close();
    if (isCode(error, unsupported)) return undefined;
    throw storageError("the data directory cannot be locked", error);
  }
}

interface Place {
  readonly path: string;
  close(): Promise<void>;
}

/** The system limits the length of a socket's path; an open directory has a short one. */
async function shortPath(directory: string): Promise<Place> {
  const path = join(directory, lockName);
  if (Buffer.byteLength(path) <= maxSocketPathBytes) return { path, close: async () => undefined };
  const handle = await open(directory, "r");
  return { path: join(`/proc/self/fd/${handle.fd}`, lockName), close: () => handle.close() };
}

async function listenInPlaceOfTheDead(path: string): Promise<Server> {
  for (let attempt = 0; attempt < 5; attempt++) {
    const server = await tryListen(path);
    if (server) return server;
    await throwIfAlive(path);
    await removeDead(path);
  }
  throw inUse();
}

async function tryListen(path: string): Promise<Server | undefined> {
  const server = createServer((socket) => socket.on("error", () => undefined).end(`${process.pid}`));
  server.unref();
  try {
    server.listen(path);
    await once(server, "listening");
    return server;
  } catch (error) {
    if (isCode(error, new Set(["EADDRINUSE"]))) return undefined;
    throw error;
  }
}

/** Puts the socket aside before it is removed, and looks again: another process may have taken the place meanwhile. */
async function removeDead(path: string): Promise<void> {
  const aside = `${path}.${process.pid}`;
  try {
    await rename(path, aside);
  } catch (error) {
    if (isCode(error, new Set(["ENOENT"]))) return;
    throw error;
  }
  try {
    await throwIfAlive(aside);
  } catch (error) {
    await rename(aside, path);
    throw error;
  }
  await rm(aside, { force: true });
}

async function throwIfAlive(path: string): Promise<void> {
  const socket = connect(path);
  socket.setTimeout(1000, () => socket.destroy());
  let owner = "";
  try {
    for await (const part of socket) owner += part;
  } catch (error) {
    if (isCode(error, new Set(["ECONNREFUSED", "ENOENT"]))) return;
  }
  throw inUse(owner);
}

function inUse(owner = ""): DocumentError {
  const who = /^\d+$/.test(owner) ? `process ${owner}` : "another process";
  return new DocumentError("in-use", `the data directory is in use by ${who}`);
}

async function release(server: Server, place: Place): Promise<void> {
  server.close();
  await once(server, "close");
  await place.close();
}

function isCode(error: unknown, codes: ReadonlySet<string>): boolean {
  return error instanceof Error && "code" in error && codes.has(String(error.code));
}
