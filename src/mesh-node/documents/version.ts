import { hash } from "node:crypto";
import { type ByteReader, type ByteWriter, MalformedError } from "./bytes.ts";

/** `collection:id`. A collection has no colon in its name. */
export type DocumentKey = string & { readonly __brand: "DocumentKey" };

/**
 * What tells two versions of a document apart. Every deletion ends a generation, and a put after it begins the next:
 * the higher generation wins, in one generation the deletion wins, and what is left is merged.
 */
export type Stamp =
  | { readonly kind: "live"; readonly generation: number; readonly heads: Heads }
  | { readonly kind: "tombstone"; readonly generation: number };

/** Hashes of the newest changes, as 64 hex digits, sorted. */
export type Heads = readonly string[];

export interface LiveVersion {
  readonly kind: "live";
  readonly generation: number;
  readonly heads: Heads;
  /** Automerge bytes that make the document when they are loaded one after the other. */
  readonly chunks: readonly Uint8Array[];
  readonly byteLength: number;
}

export interface Tombstone {
  readonly kind: "tombstone";
  readonly generation: number;
  readonly deletedAtMs: number;
}

export type Version = LiveVersion | Tombstone;

/** How what we have stands to what another has. `diverged`: each may have changes that the other lacks. */
export type Relation = "equal" | "ahead" | "behind" | "diverged";

export const maxGeneration = 2 ** 48;
const maxHeads = 4096;

export function relationOf(ours: Stamp | undefined, theirs: Stamp): Relation {
  if (!ours || ours.generation < theirs.generation) return "behind";
  if (ours.generation > theirs.generation) return "ahead";
  if (ours.kind === "tombstone") return theirs.kind === "tombstone" ? "equal" : "ahead";
  if (theirs.kind === "tombstone") return "behind";
  return sameHeads(ours.heads, theirs.heads) ? "equal" : "diverged";
}

export function sameHeads(one: Heads, other: Heads): boolean {
  return one.length === other.length && one.every((head, index) => head === other[index]);
}

export function liveVersion(generation: number, heads: Heads, chunks: readonly Uint8Array[]): LiveVersion {
  const byteLength = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  return { kind: "live", generation, heads, chunks, byteLength };
}

/** Eight bytes that differ when key or stamp differ. */
export function stampHash(key: DocumentKey, stamp: Stamp): Uint8Array {
  const state = stamp.kind === "live" ? stamp.heads.join(",") : "deleted";
  return hash("sha256", `${key}\n${stamp.generation}\n${state}`, "buffer").subarray(0, 8);
}

export function writeStamp(writer: ByteWriter, stamp: Stamp): void {
  writer.number(stamp.generation).byte(stamp.kind === "live" ? 1 : 0);
  if (stamp.kind === "live") writeHeads(writer, stamp.heads);
}

export function readStamp(reader: ByteReader): Stamp {
  const generation = reader.number(maxGeneration);
  const kind = reader.byte();
  if (kind > 1) throw new MalformedError("neither a document nor a deletion");
  return kind === 1 ? { kind: "live", generation, heads: readHeads(reader) } : { kind: "tombstone", generation };
}

export function writeHeads(writer: ByteWriter, heads: Heads): void {
  writer.number(heads.length);
  for (const head of heads) writer.raw(Buffer.from(head, "hex"));
}

export function readHeads(reader: ByteReader): Heads {
  return reader.list(maxHeads, () => Buffer.from(reader.raw(32)).toString("hex")).sort();
}
