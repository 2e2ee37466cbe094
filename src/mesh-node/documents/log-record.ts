import { ByteReader, ByteWriter, MalformedError } from "./bytes.ts";
import { maxKeyBytes, parseKey } from "./document-key.ts";
import {
  type DocumentKey,
  type Heads,
  liveVersion,
  maxGeneration,
  readHeads,
  type Version,
  writeHeads,
} from "./version.ts";

/** One step of what the log remembers. */
export type LogRecord =
  | {
      readonly kind: "changes";
      readonly key: DocumentKey;
      readonly generation: number;
      /** The heads with these changes. */
      readonly heads: Heads;
      readonly bytes: Uint8Array;
      /** Replaces what came before instead of adding to it. */
      readonly whole: boolean;
    }
  | {
      readonly kind: "tombstone";
      readonly key: DocumentKey;
      readonly generation: number;
      readonly deletedAtMs: number;
    }
  | { readonly kind: "forget"; readonly key: DocumentKey };

const kinds = ["changes", "whole", "tombstone", "forget"] as const;
const maxTimeMs = 8.64e15;

export function encodeRecords(records: Iterable<LogRecord>): Buffer {
  const writer = new ByteWriter();
  for (const record of records) {
    const kind = record.kind === "changes" && record.whole ? "whole" : record.kind;
    writer.byte(kinds.indexOf(kind)).text(record.key);
    if (record.kind === "forget") continue;
    writer.number(record.generation);
    if (record.kind === "tombstone") writer.number(record.deletedAtMs);
    else {
      writeHeads(writer, record.heads);
      writer.bytes(record.bytes);
    }
  }
  return writer.finish();
}

export function decodeRecords(bytes: Uint8Array): LogRecord[] {
  const reader = new ByteReader(bytes);
  const records: LogRecord[] = [];
  while (!reader.atEnd) records.push(decodeRecord(reader));
  return records;
}

function decodeRecord(reader: ByteReader): LogRecord {
  const kind = kinds[reader.byte()];
  const key = parseKey(reader.text(maxKeyBytes));
  if (!kind || !key) throw new MalformedError("a record has no kind or no key");
  if (kind === "forget") return { kind, key };
  const generation = reader.number(maxGeneration);
  if (kind === "tombstone") return { kind, key, generation, deletedAtMs: reader.number(maxTimeMs) };
  const heads = readHeads(reader);
  return { kind: "changes", key, generation, heads, bytes: reader.bytes(2 ** 31), whole: kind === "whole" };
}

/** The record from which a version can be made without any other. */
export function recordOf(key: DocumentKey, version: Version): LogRecord {
  const { generation } = version;
  if (version.kind === "tombstone") return { kind: "tombstone", key, generation, deletedAtMs: version.deletedAtMs };
  const bytes = Buffer.concat(version.chunks);
  return { kind: "changes", key, generation, heads: version.heads, bytes, whole: true };
}

/** Applies records in their order to what is known. */
export function replay(records: Iterable<LogRecord>, into: Map<DocumentKey, Version>): void {
  for (const record of records) {
    if (record.kind === "forget") into.delete(record.key);
    else into.set(record.key, replayed(record, into.get(record.key)));
  }
}

function replayed(record: Exclude<LogRecord, { kind: "forget" }>, before: Version | undefined): Version {
  const { generation } = record;
  if (record.kind === "tombstone") return { kind: "tombstone", generation, deletedAtMs: record.deletedAtMs };
  const adds = !record.whole && before?.kind === "live" && before.generation === generation;
  return liveVersion(generation, record.heads, adds ? [...before.chunks, record.bytes] : [record.bytes]);
}
