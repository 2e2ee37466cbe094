import { crc32 } from "node:zlib";

/**
 * The form of the file: a head with a random salt, then batches. What is written in one go is one batch with one
 * checksum, so that a write that was cut leaves nothing valid behind it; a damaged batch that valid ones follow is
 * therefore damage of what was durable. The salt is part of every checksum: no content can look like a batch.
 */
const headMagic = Buffer.from("KCMDOCS1");
const batchMagic = Buffer.from([0x9d, 0x4b, 0x43, 0x42]);
const batchHeadBytes = 12;
export const fileHeadBytes = 16;

export interface LogContent {
  readonly salt: number;
  readonly batches: readonly Uint8Array[];
  /** Behind the last batch of the valid beginning. */
  readonly end: number;
  readonly damage?: Damage;
}

/** `torn`: a write that was cut, nothing durable is lost. `corrupt`: batches that were durable are damaged. */
export interface Damage {
  readonly kind: "torn" | "corrupt";
  readonly offset: number;
  /** Valid batches behind the damage. */
  readonly later: readonly Uint8Array[];
}

export function encodeFileHead(salt: number): Buffer {
  const head = Buffer.alloc(fileHeadBytes);
  headMagic.copy(head);
  head.writeUInt32LE(salt, 8);
  head.writeUInt32LE(crc32(head.subarray(0, 12)), 12);
  return head;
}

export function encodeBatch(salt: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(batchHeadBytes);
  batchMagic.copy(head);
  head.writeUInt32LE(payload.length, 4);
  head.writeUInt32LE(checksum(salt, payload), 8);
  return Buffer.concat([head, payload]);
}

/** What is in the file; `undefined` when it does not begin as one of ours. */
export function readLog(file: Buffer): LogContent | undefined {
  const salt = readSalt(file);
  if (salt === undefined) return undefined;
  const { batches, end } = readBatches(file, salt, fileHeadBytes);
  if (end === file.length) return { salt, batches, end };
  const later = laterBatches(file, salt, end + 1);
  return { salt, batches, end, damage: { kind: later.length > 0 ? "corrupt" : "torn", offset: end, later } };
}

function readSalt(file: Buffer): number | undefined {
  if (file.length < fileHeadBytes || !file.subarray(0, 8).equals(headMagic)) return undefined;
  return file.readUInt32LE(12) === crc32(file.subarray(0, 12)) ? file.readUInt32LE(8) : undefined;
}

function readBatches(file: Buffer, salt: number, from: number): { batches: Uint8Array[]; end: number } {
  const batches: Uint8Array[] = [];
  let end = from;
  for (let batch = batchAt(file, salt, end); batch; batch = batchAt(file, salt, end)) {
    batches.push(batch);
    end += batchHeadBytes + batch.length;
  }
  return { batches, end };
}

function laterBatches(file: Buffer, salt: number, from: number): Uint8Array[] {
  const later: Uint8Array[] = [];
  let at = file.indexOf(batchMagic, from);
  while (at !== -1) {
    const { batches, end } = readBatches(file, salt, at);
    later.push(...batches);
    at = file.indexOf(batchMagic, Math.max(end, at + 1));
  }
  return later;
}

function batchAt(file: Buffer, salt: number, at: number): Uint8Array | undefined {
  const start = at + batchHeadBytes;
  if (start > file.length || !file.subarray(at, at + 4).equals(batchMagic)) return undefined;
  const payload = file.subarray(start, start + file.readUInt32LE(at + 4));
  if (payload.length !== file.readUInt32LE(at + 4)) return undefined;
  return checksum(salt, payload) === file.readUInt32LE(at + 8) ? payload : undefined;
}

function checksum(salt: number, payload: Uint8Array): number {
  const seed = Buffer.alloc(8);
  seed.writeUInt32LE(salt);
  seed.writeUInt32LE(payload.length, 4);
  return crc32(payload, crc32(seed));
}
