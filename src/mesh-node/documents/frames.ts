import { ByteReader, ByteWriter, MalformedError } from "./bytes.ts";
import { bucketCount, digestBytes } from "./digest.ts";
import { maxKeyBytes, parseKey } from "./document-key.ts";
import type { RemoteVersion } from "./edit.ts";
import { type DocumentKey, type Heads, readHeads, readStamp, type Stamp, writeHeads, writeStamp } from "./version.ts";

/** A document by its key and stamp. */
export interface Entry {
  readonly key: DocumentKey;
  readonly stamp: Stamp;
}

/** A document that is asked for, and what the asker has of it: nothing, when generation is 0. */
export interface Want {
  readonly key: DocumentKey;
  readonly generation: number;
  readonly heads: Heads;
}

/** What nodes say to each other about documents. */
export type Frame =
  /** A summary of everything the sender has. */
  | { readonly kind: "digest"; readonly sums: Uint8Array }
  /** Every document that the sender has in these buckets. */
  | { readonly kind: "entries"; readonly buckets: readonly number[]; readonly entries: readonly Entry[] }
  | { readonly kind: "wants"; readonly wants: readonly Want[] }
  /** Documents or changes to them. `told` names the peers to which the sender tells them itself. */
  | { readonly kind: "updates"; readonly told: readonly PeerMark[]; readonly updates: readonly RemoteVersion[] }
  /** One step of Automerge's own protocol about one document; `isLast` asks for no answer. */
  | {
      readonly kind: "sync";
      readonly key: DocumentKey;
      readonly generation: number;
      readonly isLast: boolean;
      readonly message: Uint8Array;
    };

/** The first 16 hex digits of a peer's id: enough to leave it out of a round. */
export type PeerMark = string;

const kinds = ["digest", "entries", "wants", "updates", "sync"] as const;
const formatVersion = 1;
const maxGeneration = 2 ** 48;
const maxTimeMs = 8.64e15;
const maxItems = 2 ** 20;
const maxBytes = 16 * 1024 * 1024;

export function encodeFrame(frame: Frame): Buffer {
  const writer = new ByteWriter().byte(formatVersion).byte(kinds.indexOf(frame.kind));
  switch (frame.kind) {
    case "digest":
      return writer.raw(frame.sums).finish();
    case "entries":
      writer.bytes(Uint8Array.from(frame.buckets));
      writeList(writer, frame.entries, writeEntry);
      return writer.finish();
    case "wants":
      writeList(writer, frame.wants, writeWant);
      return writer.finish();
    case "updates":
      writeList(writer, frame.told, (mark) => writer.raw(Buffer.from(mark, "hex")));
      writeList(writer, frame.updates, writeUpdate);
      return writer.finish();
    case "sync":
      writer.text(frame.key).number(frame.generation);
      return writer
        .byte(frame.isLast ? 1 : 0)
        .bytes(frame.message)
        .finish();
  }
}

/** Throws a `MalformedError` for anything that `encodeFrame` does not make. */
export function decodeFrame(bytes: Uint8Array): Frame {
  const reader = new ByteReader(bytes);
  if (reader.byte() !== formatVersion) throw new MalformedError("the frame has another format");
  const kind = kinds[reader.byte()];
  if (!kind) throw new MalformedError("the frame is of no known kind");
  const frame = readers[kind](reader);
  reader.end();
  return frame;
}

const readers: Readonly<Record<(typeof kinds)[number], (reader: ByteReader) => Frame>> = {
  digest: (reader) => ({ kind: "digest", sums: reader.raw(digestBytes) }),
  entries: (reader) => ({
    kind: "entries",
    buckets: [...reader.bytes(bucketCount)],
    entries: reader.list(maxItems, () => ({ key: readKey(reader), stamp: readStamp(reader) })),
  }),
  wants: (reader) => ({ kind: "wants", wants: reader.list(maxItems, () => readWant(reader)) }),
  updates: (reader) => ({
    kind: "updates",
    told: reader.list(maxItems, () => Buffer.from(reader.raw(8)).toString("hex")),
    updates: reader.list(maxItems, () => readUpdate(reader)),
  }),
  sync: (reader) => ({
    kind: "sync",
    key: readKey(reader),
    generation: reader.number(maxGeneration),
    isLast: reader.byte() === 1,
    message: reader.bytes(maxBytes),
  }),
};

function writeList<Item>(
  writer: ByteWriter,
  items: readonly Item[],
  write: (item: Item, writer: ByteWriter) => void,
): void {
  writer.number(items.length);
  for (const item of items) write(item, writer);
}

function writeEntry({ key, stamp }: Entry, writer: ByteWriter): void {
  writer.text(key);
  writeStamp(writer, stamp);
}

function writeWant({ key, generation, heads }: Want, writer: ByteWriter): void {
  writer.text(key).number(generation);
  writeHeads(writer, heads);
}

function readWant(reader: ByteReader): Want {
  return { key: readKey(reader), generation: reader.number(maxGeneration), heads: readHeads(reader) };
}

function writeUpdate(update: RemoteVersion, writer: ByteWriter): void {
  writer.text(update.key);
  writeStamp(writer, update.stamp);
  if ("deletedAtMs" in update) writer.number(update.deletedAtMs);
  else {
    writeHeads(writer, update.base);
    writer.bytes(update.bytes);
  }
}

function readUpdate(reader: ByteReader): RemoteVersion {
  const key = readKey(reader);
  const stamp = readStamp(reader);
  if (stamp.kind === "tombstone") return { key, stamp, deletedAtMs: reader.number(maxTimeMs) };
  return { key, stamp, base: readHeads(reader), bytes: reader.bytes(maxBytes) };
}

function readKey(reader: ByteReader): DocumentKey {
  const key = parseKey(reader.text(maxKeyBytes));
  if (!key) throw new MalformedError("a key is not possible");
  return key;
}
