import { changesSince } from "./automerge.ts";
import type { RemoteVersion } from "./edit.ts";
import type { Entry, Frame, PeerMark, Want } from "./frames.ts";
import { Reconciliations } from "./reconciliations.ts";
import type { DocumentKey, Heads, Stamp, Version } from "./version.ts";
import type { VersionStore } from "./version-store.ts";

/** From where on the peer lacks changes, in one generation of a document; everything, when `base` is empty. */
interface Due {
  readonly generation: number;
  readonly base: Heads;
}

/** A frame is closed when it has so much in it. */
const frameBytes = 256 * 1024;
const wantsPerFrame = 4096;

/**
 * What one peer is still to be told. It holds keys, not frames: what changes twice before the peer takes it is sent
 * once, and a slow peer costs no more memory than there are documents.
 */
export class Outbox {
  readonly reconciliations = new Reconciliations();
  readonly #versions: VersionStore;
  #isDigestDue = false;
  readonly #buckets = new Set<number>();
  readonly #wants = new Map<DocumentKey, Want>();
  readonly #updates = new Map<DocumentKey, Due>();

  constructor(versions: VersionStore) {
    this.#versions = versions;
  }

  announce(): void {
    this.#isDigestDue = true;
  }

  explain(buckets: readonly number[]): void {
    for (const bucket of buckets) this.#buckets.add(bucket);
  }

  want(want: Want): void {
    this.#wants.set(want.key, want);
  }

  /** The document has changed since `base`; what the peer lacks already stays due. */
  changed(key: DocumentKey, due: Due): void {
    if (!this.#updates.has(key)) this.#updates.set(key, due);
  }

  /** The peer has said what it has. */
  asked(key: DocumentKey, due: Due): void {
    this.#updates.set(key, due);
  }

  /** The peer has this version. */
  known(key: DocumentKey): void {
    this.#updates.delete(key);
  }

  /** The next frame, or nothing when the peer has been told everything. */
  next(told: () => readonly PeerMark[]): Frame | undefined {
    if (this.#isDigestDue) {
      this.#isDigestDue = false;
      return { kind: "digest", sums: this.#versions.digest.sums() };
    }
    return this.#nextEntries() ?? this.#nextWants() ?? this.reconciliations.next() ?? this.#nextUpdates(told);
  }

  #nextEntries(): Frame | undefined {
    const buckets: number[] = [];
    const entries: Entry[] = [];
    let bytes = 0;
    for (const bucket of this.#buckets) {
      if (bytes > frameBytes) break;
      buckets.push(bucket);
      this.#buckets.delete(bucket);
      for (const key of this.#versions.digest.keysIn(bucket)) {
        const version = this.#versions.published(key);
        if (!version) continue;
        entries.push({ key, stamp: version satisfies Stamp });
        bytes += key.length + 40;
      }
    }
    return buckets.length > 0 ? { kind: "entries", buckets, entries } : undefined;
  }

  #nextWants(): Frame | undefined {
    const wants = [...this.#wants.values().take(wantsPerFrame)];
    for (const { key } of wants) this.#wants.delete(key);
    return wants.length > 0 ? { kind: "wants", wants } : undefined;
  }

  #nextUpdates(told: () => readonly PeerMark[]): Frame | undefined {
    const updates: RemoteVersion[] = [];
    let bytes = 0;
    for (const [key, due] of this.#updates) {
      const version = this.#versions.published(key);
      const update = version && this.#updateOf(key, version, due);
      const size = update && "bytes" in update ? update.bytes.length : 0;
      if (updates.length > 0 && bytes + size > frameBytes) break;
      this.#updates.delete(key);
      if (update) updates.push(update);
      bytes += size + key.length + 100;
    }
    return updates.length > 0 ? { kind: "updates", told: told(), updates } : undefined;
  }

  #updateOf(key: DocumentKey, version: Version, due: Due): RemoteVersion {
    const { generation } = version;
    if (version.kind === "tombstone")
      return { key, stamp: { kind: "tombstone", generation }, deletedAtMs: version.deletedAtMs };
    const stamp = { kind: "live", generation, heads: version.heads } as const;
    if (due.base.length > 0 && due.generation === generation) {
      const bytes = this.#versions.handles.read(key, version, (handle) => changesSince(handle, due.base));
      if (bytes.length < version.byteLength) return { key, stamp, base: due.base, bytes };
    }
    return { key, stamp, base: [], bytes: Buffer.concat(version.chunks) };
  }
}
