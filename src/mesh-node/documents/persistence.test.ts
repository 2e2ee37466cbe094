import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type DiskCall, failingStorage } from "../../../test/support/failing-storage.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { systemClock } from "../../runtime/clock.ts";
import { silentLogger } from "../../runtime/log.ts";
import type { Documents } from "./documents.ts";
import { type DocumentsOptions, openDocuments } from "./open-documents.ts";
import { openDirectory } from "./storage.ts";

let directory: string;
let open: Documents[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "documents-"));
});

afterEach(async () => {
  for (const documents of open) await documents.close();
  open = [];
  await rm(directory, { recursive: true });
});

async function openHere(overrides: Partial<DocumentsOptions> = {}): Promise<Documents> {
  const documents = await openDocuments({ directory, clock: systemClock, log: silentLogger, ...overrides });
  open.push(documents);
  return documents;
}

/** Ten documents, each put by itself, then closed. */
async function tenDocuments(): Promise<void> {
  const documents = await openHere();
  for (let n = 0; n < 10; n++) await documents.put("c", `${n}`, `{"n":${n}}`);
  await documents.close();
}

const logFile = () => join(directory, "documents.1.log");

describe("a file that a write was cut in", () => {
  it("is read up to the last whole write, wherever the cut was", async () => {
    await tenDocuments();
    const whole = await readFile(logFile());
    for (let cut = 1; cut < 200; cut += 7) {
      await writeFile(logFile(), whole.subarray(0, whole.length - cut));
      const documents = await openHere();
      const { length } = await documents.list("c");
      expect(length).toBeLessThan(10);
      expect(length).toBeGreaterThanOrEqual(8);
      await documents.put("c", "new", '{"after":"the cut"}');
      await documents.close();
      const again = await openHere();
      expect(await again.list("c")).toHaveLength(length + 1);
      await again.close();
    }
  });

  it("is read when the disk has left zeros or old content behind the last write", async () => {
    await tenDocuments();
    const whole = await readFile(logFile());
    for (const rest of [Buffer.alloc(4096), whole.subarray(100, 300)]) {
      await writeFile(logFile(), Buffer.concat([whole, rest]));
      const documents = await openHere();
      expect(await documents.list("c")).toHaveLength(10);
      await documents.close();
      expect((await readFile(logFile())).equals(whole)).toBe(true);
    }
  });
});

describe("a file that is damaged in the middle", () => {
  it("is refused with the place, and not touched", async () => {
    await tenDocuments();
    const damaged = await readFile(logFile());
    damaged.writeUInt8(damaged.readUInt8(600) ^ 0x10, 600);
    await writeFile(logFile(), damaged);
    await expect(openHere()).rejects.toMatchObject({
      kind: "corrupt",
      message: expect.stringMatching(/^documents\.1\.log is damaged at byte \d+; \d batches before and \d after it/),
    });
    expect((await readFile(logFile())).equals(damaged)).toBe(true);
  });

  it("is never taken for a write that was cut, whichever bit is wrong", async () => {
    await tenDocuments();
    const whole = await readFile(logFile());
    for (let at = 0; at < whole.length - 300; at += 13) {
      const damaged = Buffer.from(whole);
      damaged.writeUInt8(damaged.readUInt8(at) ^ (1 << (at % 8)), at);
      await writeFile(logFile(), damaged);
      await expect(openHere()).rejects.toMatchObject({ kind: "corrupt" });
    }
  });

  it("gives back the rest when that is asked for, and the damaged file is kept", async () => {
    await tenDocuments();
    const damaged = await readFile(logFile());
    damaged.writeUInt8(damaged.readUInt8(600) ^ 0x10, 600);
    await writeFile(logFile(), damaged);
    const documents = await openHere({ onCorruption: "salvage" });
    expect(await documents.list("c")).toHaveLength(9);
    await documents.close();
    expect((await readFile(`${logFile()}.damaged`)).equals(damaged)).toBe(true);
    const again = await openHere();
    expect(await again.list("c")).toHaveLength(9);
    await again.put("c", "10", "{}");
  });

  it("of another program is refused", async () => {
    await writeFile(logFile(), "something else entirely");
    await expect(openHere()).rejects.toMatchObject({ kind: "corrupt", message: expect.stringMatching(/is not a log/) });
  });
});

describe("compaction", () => {
  it("leaves one file that is not much larger than the documents", async () => {
    const documents = await openHere({ slackBytes: 10_000 });
    for (let round = 0; round < 40; round++)
      await Promise.all(Array.from({ length: 20 }, (_, n) => documents.put("c", `${n}`, `{"round":${round}}`)));
    const { bytes, fileBytes } = documents.stats();
    expect(fileBytes).toBeLessThan(2 * bytes + 10_000 + 10_000);
    await documents.close();
    expect(await readdir(directory)).toEqual([expect.stringMatching(/^documents\.\d+\.log$/)]);
    const again = await openHere();
    expect(await again.list("c")).toEqual(
      Array.from({ length: 20 }, (_, n) => ({ id: `${n}`, json: '{"round":39}' })).sort((a, b) =>
        a.id < b.id ? -1 : 1,
      ),
    );
  });

  it("that was cut leaves nothing that counts", async () => {
    await tenDocuments();
    await writeFile(join(directory, "documents.2.log.tmp"), "half of a fi");
    const documents = await openHere();
    expect(await documents.list("c")).toHaveLength(10);
    expect(await readdir(directory)).not.toContain("documents.2.log.tmp");
  });

  it("that the disk refuses does not stop the writing", async () => {
    const storage = failingStorage(await openDirectory(directory));
    const documents = await openHere({ storage, slackBytes: 1000 });
    storage.fail("ENOSPC", ["create"]);
    for (let n = 0; n < 100; n++) await documents.put("c", "a", `{"n":${n}}`);
    storage.fail();
    for (let n = 0; n < 100; n++) await documents.put("c", "a", `{"n":${n}}`);
    await documents.close();
    expect(await (await openHere()).get("c", "a")).toBe('{"n":99}');
  });
});

describe("a disk that refuses", () => {
  const ways: [string, string, DiskCall[]][] = [
    ["is full", "ENOSPC", ["write", "create"]],
    ["is full in the middle of a write", "ENOSPC", ["half-write", "create"]],
    ["is full and cannot even be shortened", "ENOSPC", ["half-write", "truncate", "create"]],
    ["fails to make durable", "EIO", ["datasync"]],
    ["fails while the log is written anew", "EIO", ["datasync", "truncate", "syncDirectory"]],
  ];

  it.each(ways)("because it %s fails the put; all is readable, and goes on when it is over", async (_, code, calls) => {
    const storage = failingStorage(await openDirectory(directory));
    const documents = await openHere({ storage });
    await documents.put("c", "a", '{"n":1}');
    const heard: string[] = [];
    documents.subscribe({}, ({ id }) => heard.push(id));
    storage.fail(code, calls);
    const puts = ['{"n":2}', '{"n":3}'].map((json) => documents.put("c", "a", json));
    const other = documents.put("c", "b", "{}");
    for (const put of [...puts, other, documents.delete("c", "a")])
      await expect(put).rejects.toMatchObject({ kind: "storage", message: expect.stringContaining(code) });
    expect(await documents.list("c")).toEqual([{ id: "a", json: '{"n":1}' }]);
    expect(heard).toEqual([]);
    expect(documents.stats().problem).toContain(code);
    storage.fail();
    await documents.put("c", "a", '{"n":4}');
    expect(documents.stats().problem).toBeUndefined();
    await documents.close();
    expect(await (await openHere()).list("c")).toEqual([{ id: "a", json: '{"n":4}' }]);
  });

  it("after a new log has its name: nothing is written to the old one any more", async () => {
    const storage = failingStorage(await openDirectory(directory));
    const documents = await openHere({ storage, slackBytes: 500 });
    for (let n = 0; n < 6; n++) await documents.put("c", "a", `{"n":${n}}`);
    storage.fail("EIO", ["syncDirectory"]);
    const puts = Array.from({ length: 20 }, (_, n) => documents.put("c", "b", `{"n":${n}}`).catch(() => undefined));
    await Promise.all(puts);
    storage.fail();
    await documents.put("c", "last", "1");
    const before = await documents.list("c");
    await documents.close();
    expect(await (await openHere()).list("c")).toEqual(before);
  });
});

describe("one directory", () => {
  it("belongs to one process at a time, also when its path is very long", async () => {
    for (const name of ["short", "l".repeat(120)]) {
      const inside = join(directory, name);
      const first = await openHere({ directory: inside });
      await expect(openHere({ directory: inside })).rejects.toMatchObject({
        kind: "in-use",
        message: `the data directory is in use by process ${process.pid}`,
      });
      await first.close();
      const second = await openHere({ directory: inside });
      await second.put("c", "a", "1");
    }
  });

  it("goes to exactly one of many that want it at once", async () => {
    const all = await Promise.allSettled(Array.from({ length: 8 }, () => openHere()));
    expect(all.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  it("that cannot be created is said so", async () => {
    await writeFile(join(directory, "file"), "");
    await expect(openHere({ directory: join(directory, "file", "data") })).rejects.toMatchObject({
      kind: "storage",
      message: expect.stringMatching(/^the data directory cannot be created: a part of the path is not a directory/),
    });
  });
});

describe("a deletion", () => {
  it("is forgotten when its time is over, also on disk", async () => {
    const clock = new FakeClock();
    const documents = await openHere({ clock, tombstoneTtlMs: 60_000, expireEveryMs: 10_000 });
    await documents.put("c", "a", "1");
    await documents.delete("c", "a");
    await clock.advance(50_000);
    expect(documents.stats().tombstones).toBe(1);
    await clock.advance(20_000);
    await documents.put("c", "b", "1");
    expect(documents.stats().tombstones).toBe(0);
    await documents.close();
    expect((await openHere()).stats()).toMatchObject({ documents: 1, tombstones: 0 });
  });
});
