import type { Storage, StorageFile } from "../../src/mesh-node/documents/storage.ts";

/** What a disk can refuse. */
export type DiskCall = "write" | "half-write" | "datasync" | "truncate" | "rename" | "syncDirectory" | "create";

export interface FailingStorage extends Storage {
  /** From now on these calls fail with this code; none without arguments. */
  fail(code?: string, calls?: readonly DiskCall[]): void;
}

/** A directory whose disk fails when a test wants. A `half-write` leaves half of the bytes behind. */
export function failingStorage(real: Storage): FailingStorage {
  let code = "";
  let failing: ReadonlySet<DiskCall> = new Set();
  const check = (call: DiskCall) => {
    if (failing.has(call)) throw Object.assign(new Error(`${code}: refused`), { code });
  };
  const wrap = (file: StorageFile): StorageFile => {
    const write = async (...[bytes, from, length, position]: [Uint8Array, number, number, number]) => {
      check("write");
      if (failing.has("half-write")) await file.write(bytes, from, Math.ceil(length / 2), position);
      check("half-write");
      return file.write(bytes, from, length, position);
    };
    return {
      write: write as StorageFile["write"],
      datasync: async () => {
        check("datasync");
        await file.datasync();
      },
      truncate: async (length) => {
        check("truncate");
        await file.truncate(length);
      },
      close: () => file.close(),
    };
  };
  return {
    ...real,
    create: async (name) => {
      check("create");
      return wrap(await real.create(name));
    },
    open: async (name) => wrap(await real.open(name)),
    rename: async (from, to) => {
      check("rename");
      await real.rename(from, to);
    },
    syncDirectory: async () => {
      check("syncDirectory");
      await real.syncDirectory();
    },
    fail: (withCode = "", calls = []) => {
      code = withCode;
      failing = new Set(calls);
    },
  };
}
