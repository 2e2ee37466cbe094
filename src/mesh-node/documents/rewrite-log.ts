import { encodeBatch, encodeFileHead } from "./log-file.ts";
import { encodeRecords, type LogRecord } from "./log-record.ts";
import { type Storage, type StorageFile, writeAll } from "./storage.ts";

const batchBytes = 1024 * 1024;

export const logName = (number: number): string => `documents.${number}.log`;

export interface NewLog {
  readonly number: number;
  readonly salt: number;
}

export interface NewLogContent {
  readonly records: Iterable<LogRecord>;
  /** Called just before the name of the new log can appear. */
  beforeRename?(): void;
}

/** Writes a complete log beside the old one and gives it its name when all of it is durable. */
export async function writeWholeLog(
  storage: Storage,
  log: NewLog,
  content: NewLogContent,
): Promise<{ readonly file: StorageFile; readonly size: number }> {
  const name = logName(log.number);
  const file = await storage.create(`${name}.tmp`);
  try {
    const size = await writeContent(file, log, content.records);
    await file.datasync();
    content.beforeRename?.();
    await storage.rename(`${name}.tmp`, name);
    await storage.syncDirectory();
    return { file, size };
  } catch (error) {
    await file.close().catch(() => undefined);
    await storage.remove(`${name}.tmp`).catch(() => undefined);
    throw error;
  }
}

async function writeContent(file: StorageFile, log: NewLog, records: Iterable<LogRecord>): Promise<number> {
  const head = encodeFileHead(log.salt);
  await writeAll(file, head, 0);
  let size = head.length;
  for (const group of grouped(records)) {
    const batch = encodeBatch(log.salt, encodeRecords(group));
    await writeAll(file, batch, size);
    size += batch.length;
  }
  return size;
}

function* grouped(records: Iterable<LogRecord>): Generator<LogRecord[]> {
  let group: LogRecord[] = [];
  let bytes = 0;
  for (const record of records) {
    group.push(record);
    bytes += record.kind === "changes" ? record.bytes.length + 100 : 100;
    if (bytes < batchBytes) continue;
    yield group;
    group = [];
    bytes = 0;
  }
  if (group.length > 0) yield group;
}
