import { type FileHandle, link, mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { DocumentError } from "./documents.ts";

/** An open file of the data directory. */
export type StorageFile = Pick<FileHandle, "write" | "datasync" | "truncate" | "close">;

/** The data directory as the store uses it. Tests pass one that fails when they want. */
export interface Storage {
  readonly directory: string;
  list(): Promise<readonly string[]>;
  read(name: string): Promise<Buffer>;
  /** A new file, or the same one emptied. */
  create(name: string): Promise<StorageFile>;
  /** A file that is there, to write into. */
  open(name: string): Promise<StorageFile>;
  rename(from: string, to: string): Promise<void>;
  /** A second name for a file; not an error when it has it already. */
  link(from: string, to: string): Promise<void>;
  remove(name: string): Promise<void>;
  /** Makes names that were created, changed or removed durable. */
  syncDirectory(): Promise<void>;
}

/** Creates the directory if it is missing. */
export async function openDirectory(directory: string): Promise<Storage> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw storageError("the data directory cannot be created", error);
  }
  const path = (name: string) => join(directory, name);
  return {
    directory,
    list: () => readdir(directory),
    read: (name) => readFile(path(name)),
    create: (name) => open(path(name), "w", 0o600),
    open: (name) => open(path(name), "r+"),
    rename: (from, to) => rename(path(from), path(to)),
    link: (from, to) => linkOnce(path(from), path(to)),
    remove: (name) => rm(path(name), { force: true }),
    syncDirectory: () => syncDirectory(directory),
  };
}

async function linkOnce(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Writes all of it: the system may take a part and ask for the rest again. */
export async function writeAll(file: StorageFile, bytes: Uint8Array, position: number): Promise<void> {
  let done = 0;
  while (done < bytes.length) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

const causes: Readonly<Record<string, string>> = {
  ENOSPC: "no space is left on its disk",
  EDQUOT: "its disk quota is used up",
  EROFS: "its file system is read-only",
  EACCES: "permission is denied",
  EPERM: "the system does not permit it",
  EIO: "the disk reports an error",
  ENOTDIR: "a part of the path is not a directory",
  EEXIST: "there is a file where a directory is needed",
};

/** What the disk refused, in words. */
export function storageError(what: string, error: unknown): DocumentError {
  if (error instanceof DocumentError) return error;
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
  const cause = causes[code] ?? "the system refused";
  return new DocumentError("storage", `${what}: ${cause} (${code})`, { cause: error });
}
