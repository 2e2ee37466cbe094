import { randomBytes } from "node:crypto";
import type { Logger } from "../../runtime/log.ts";
import type { OpenLog } from "./commit-log.ts";
import { DocumentError } from "./documents.ts";
import { type LogContent, readLog } from "./log-file.ts";
import { decodeRecords, type LogRecord, recordOf, replay } from "./log-record.ts";
import { logName, writeWholeLog } from "./rewrite-log.ts";
import { type Storage, storageError } from "./storage.ts";
import type { DocumentKey, LiveVersion, Version } from "./version.ts";

export interface OpenLogOptions {
  readonly storage: Storage;
  readonly log: Logger;
  /** What to do when documents that were durable are damaged. */
  readonly onCorruption: "refuse" | "salvage";
  /** The document that is really in a version some changes of which may be lost; undefined if there is none. */
  verify(version: LiveVersion): LiveVersion | undefined;
}

export interface FoundLog {
  readonly open: OpenLog;
  readonly versions: Map<DocumentKey, Version>;
}

/** Opens the newest log or begins the first one. Throws a `DocumentError` when the directory cannot be used. */
export async function openLog(options: OpenLogOptions): Promise<FoundLog> {
  const { storage } = options;
  try {
    const names = await storage.list();
    const numbers = names.flatMap(logNumber).sort((one, other) => other - one);
    const [newest] = numbers;
    const found = newest === undefined ? await begin(storage) : await openExisting(newest, options);
    const leftovers = names.filter((name) => logNumber(name.replace(/\.tmp$/, "")).length > 0);
    const kept = logName(found.open.number);
    for (const name of leftovers) if (name !== kept) await storage.remove(name);
    return found;
  } catch (error) {
    throw storageError("the data directory cannot be opened", error);
  }
}

function logNumber(name: string): number[] {
  const digits = /^documents\.(\d{1,15})\.log$/.exec(name)?.[1];
  return digits === undefined ? [] : [Number(digits)];
}

async function begin(storage: Storage): Promise<FoundLog> {
  return { open: await writeNew(storage, 1, []), versions: new Map() };
}

async function writeNew(storage: Storage, number: number, records: Iterable<LogRecord>): Promise<OpenLog> {
  const next = { number, salt: randomBytes(4).readUInt32LE() };
  return { ...next, ...(await writeWholeLog(storage, next, { records })) };
}

async function openExisting(number: number, options: OpenLogOptions): Promise<FoundLog> {
  const { storage, log } = options;
  const name = logName(number);
  const bytes = await storage.read(name);
  const content = readLog(bytes);
  if (!content) throw new DocumentError("corrupt", `${name} is not a log of documents, or its head is damaged`);
  if (content.damage?.kind === "corrupt") return salvage(number, content, options);
  const file = await storage.open(name);
  try {
    if (content.damage) {
      await file.truncate(content.end);
      await file.datasync();
      log.warn("unfinished write removed", { file: name, offset: content.end, bytes: bytes.length - content.end });
    }
    const { salt, end: size } = content;
    return { open: { number, salt, file, size }, versions: versionsOf(name, content.batches) };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Goes on with what is readable; the damaged file stays beside it under another name. */
async function salvage(number: number, content: LogContent, options: OpenLogOptions): Promise<FoundLog> {
  const { storage, log, onCorruption } = options;
  const name = logName(number);
  const later = content.damage?.later ?? [];
  const where = `${name} is damaged at byte ${content.end}`;
  if (onCorruption === "refuse") {
    const rest = `${content.batches.length} batches before and ${later.length} after it are readable`;
    throw new DocumentError("corrupt", `${where}; ${rest}. Nothing was changed`);
  }
  const damaged = `${name}.damaged`;
  await storage.link(name, damaged);
  await storage.syncDirectory();
  const versions = verified(versionsOf(name, [...content.batches, ...later]), options);
  const open = await writeNew(
    storage,
    number + 1,
    Array.from(versions, ([key, version]) => recordOf(key, version)),
  );
  log.error("documents salvaged", { file: name, offset: content.end, keptAs: damaged });
  return { open, versions };
}

function verified(versions: Map<DocumentKey, Version>, options: OpenLogOptions): Map<DocumentKey, Version> {
  for (const [key, version] of versions) {
    if (version.kind === "tombstone") continue;
    const readable = options.verify(version);
    if (readable) versions.set(key, readable);
    else {
      versions.delete(key);
      options.log.error("document lost", { key });
    }
  }
  return versions;
}

function versionsOf(name: string, batches: readonly Uint8Array[]): Map<DocumentKey, Version> {
  const versions = new Map<DocumentKey, Version>();
  try {
    for (const batch of batches) replay(decodeRecords(batch), versions);
  } catch (error) {
    throw new DocumentError("corrupt", `${name} has a record that this version cannot read`, { cause: error });
  }
  return versions;
}
