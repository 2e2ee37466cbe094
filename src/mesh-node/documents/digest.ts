import { hash } from "node:crypto";
import { type DocumentKey, type Stamp, stampHash } from "./version.ts";

export const bucketCount = 256;
export const digestBytes = bucketCount * 8;

/** A summary of all documents, in buckets by key: two stores whose buckets are equal hold the same there. */
export class Digest {
  readonly #sums = new Uint8Array(digestBytes);
  readonly #keys = Array.from({ length: bucketCount }, () => new Set<DocumentKey>());

  replace(key: DocumentKey, before: Stamp | undefined, after: Stamp | undefined): void {
    const bucket = bucketOf(key);
    if (before) this.#toggle(bucket, stampHash(key, before));
    if (after) this.#toggle(bucket, stampHash(key, after));
    if (after) this.#keys[bucket]?.add(key);
    else this.#keys[bucket]?.delete(key);
  }

  sums(): Uint8Array {
    return this.#sums.slice();
  }

  keysIn(bucket: number): ReadonlySet<DocumentKey> {
    return this.#keys[bucket] ?? new Set();
  }

  /** The buckets in which another store's sums differ. */
  differing(theirs: Uint8Array): number[] {
    const differs = (bucket: number) => Buffer.compare(slot(this.#sums, bucket), slot(theirs, bucket)) !== 0;
    return Array.from({ length: bucketCount }, (_, bucket) => bucket).filter(differs);
  }

  #toggle(bucket: number, stamp: Uint8Array): void {
    for (const [index, byte] of stamp.entries()) {
      const at = bucket * 8 + index;
      this.#sums[at] = (this.#sums[at] ?? 0) ^ byte;
    }
  }
}

export function bucketOf(key: DocumentKey): number {
  return hash("sha256", key, "buffer")[0] ?? 0;
}

const slot = (sums: Uint8Array, bucket: number): Uint8Array => sums.subarray(bucket * 8, bucket * 8 + 8);
