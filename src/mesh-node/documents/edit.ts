import { changesSince, type Handle, hasHeads, headsOf, readContent, writeContent } from "./automerge.ts";
import { MalformedError } from "./bytes.ts";
import { DocumentError } from "./documents.ts";
import {
  type DocumentKey,
  type Heads,
  type LiveVersion,
  liveVersion,
  maxGeneration,
  relationOf,
  type Stamp,
  sameHeads,
  type Tombstone,
  type Version,
} from "./version.ts";
import type { Step, VersionStore } from "./version-store.ts";

/** How much may be in the store. All in bytes. */
export interface DocumentLimits {
  /** JSON text of one document that is put. */
  readonly json: number;
  /** One document with its history. It must fit into one frame. */
  readonly history: number;
  /** All documents with their history. */
  readonly store: number;
}

export const defaultLimits: DocumentLimits = {
  json: 4 * 1024 * 1024,
  history: 12 * 1024 * 1024,
  store: 512 * 1024 * 1024,
};

/** What edits are made to. Edits are synchronous: they return the step that makes them durable. */
export interface Editing {
  readonly versions: VersionStore;
  readonly limits: DocumentLimits;
  readonly nowMs: number;
  readonly tombstoneTtlMs: number;
}

/** A version that another node sent: all of it when `base` is empty, else the changes since `base`. */
export type RemoteVersion =
  | {
      readonly key: DocumentKey;
      readonly stamp: Stamp & { kind: "live" };
      readonly base: Heads;
      readonly bytes: Uint8Array;
    }
  | { readonly key: DocumentKey; readonly stamp: Stamp & { kind: "tombstone" }; readonly deletedAtMs: number };

/**
 * `merged`: the step brings it in. `known`: nothing in it is new. `stale`: what we have wins over it. `missing`: we lack
 * the changes that it builds on.
 */
export type Merge =
  | { readonly result: "merged"; readonly step: Step }
  | { readonly result: "known" | "stale" | "missing" };

const maxChunks = 16;

/** What nodes that each keep to the limit make together of one document may be larger than what one may put. */
export const readLimit = (limits: DocumentLimits): number => 4 * limits.json;

/** The step that makes the document equal to `value`; none when it is already. */
export function editPut(editing: Editing, key: DocumentKey, value: unknown): Step | undefined {
  const before = editing.versions.newest(key);
  const base = before?.kind === "live" ? before : undefined;
  const generation = base ? base.generation : (before?.generation ?? 0) + 1;
  if (generation > maxGeneration) throw new DocumentError("invalid", "the document was deleted too often");
  const write = (handle: Handle) => writeContent(handle, value, editing.nowMs);
  return editLive(editing, { key, base, generation }, write);
}

/** The step that deletes the document; none when there is none. */
export function editDelete(editing: Editing, key: DocumentKey): Step | undefined {
  const before = editing.versions.newest(key);
  if (before?.kind !== "live") return undefined;
  return tombstoneStep(key, before.generation, editing.nowMs);
}

/** Throws a `MalformedError` when the bytes are not what they are said to be. */
export function editMerge(editing: Editing, remote: RemoteVersion): Merge {
  const held = editing.versions.newest(remote.key);
  const before = held && isExpired(editing, held) ? undefined : held;
  const relation = relationOf(before, remote.stamp);
  if (relation === "equal") return { result: "known" };
  if (relation === "ahead") return { result: "stale" };
  if ("deletedAtMs" in remote) return mergeTombstone(editing, remote);
  const base = relation === "diverged" && before?.kind === "live" ? before : undefined;
  if (!hasBase(editing, remote, base)) return { result: "missing" };
  const { generation } = remote.stamp;
  const step = editLive(editing, { key: remote.key, base, generation }, (handle) => {
    handle.loadIncremental(remote.bytes);
    if (!hasHeads(handle, remote.stamp.heads)) throw new MalformedError("changes do not lead to their heads");
  });
  return step ? { result: "merged", step } : { result: "known" };
}

/** A deletion that is so old that it must no longer decide anything. */
export function isExpired(editing: Pick<Editing, "nowMs" | "tombstoneTtlMs">, version: Version): boolean {
  return version.kind === "tombstone" && version.deletedAtMs + editing.tombstoneTtlMs <= editing.nowMs;
}

function mergeTombstone(editing: Editing, remote: RemoteVersion & { deletedAtMs: number }): Merge {
  const deletedAtMs = Math.min(remote.deletedAtMs, editing.nowMs);
  const step = tombstoneStep(remote.key, remote.stamp.generation, deletedAtMs);
  if (step.after && isExpired(editing, step.after)) return { result: "known" };
  return { result: "merged", step };
}

function tombstoneStep(key: DocumentKey, generation: number, deletedAtMs: number): Step {
  const after: Tombstone = { kind: "tombstone", generation, deletedAtMs };
  return { key, after, record: { ...after, key } };
}

function hasBase(editing: Editing, remote: RemoteVersion & { base: Heads }, ours: LiveVersion | undefined): boolean {
  if (remote.base.length === 0) return true;
  if (!ours) return false;
  return editing.versions.handles.read(remote.key, ours, (handle) => hasHeads(handle, remote.base));
}

interface Edited {
  readonly key: DocumentKey;
  readonly base: LiveVersion | undefined;
  readonly generation: number;
}

/** A document that `change` left unreadable or too large does not come into being. */
function editLive(editing: Editing, edited: Edited, change: (handle: Handle) => void): Step | undefined {
  const { handles } = editing.versions;
  const { key, base, generation } = edited;
  const handle = base ? handles.take(key, base) : handles.create();
  let step: Step & { readonly after: LiveVersion };
  let json: string;
  try {
    change(handle);
    step = stepTo(handle, edited, editing.limits);
    throwIfTooLarge(editing, step.after.byteLength - (base?.byteLength ?? 0), step.after.byteLength);
    json = readContent(handle, readLimit(editing.limits));
  } catch (error) {
    handle.free();
    throw error;
  }
  const isSame = base?.generation === generation && sameHeads(base.heads, step.after.heads);
  handles.keep(key, { version: isSame ? base : step.after, handle, json });
  return isSame ? undefined : step;
}

function stepTo(handle: Handle, edited: Edited, limits: DocumentLimits): Step & { readonly after: LiveVersion } {
  const { key, base, generation } = edited;
  const heads = headsOf(handle);
  const bytes = changesSince(handle, base?.heads ?? []);
  const added = liveVersion(generation, heads, base ? [...base.chunks, bytes] : [bytes]);
  const isLoose = added.chunks.length > maxChunks || added.byteLength > limits.history;
  const after = isLoose ? liveVersion(generation, heads, [handle.save()]) : added;
  return { key, after, record: { kind: "changes", key, generation, heads, bytes, whole: !base } };
}

function throwIfTooLarge({ limits, versions }: Editing, added: number, history: number): void {
  if (history > limits.history)
    throw new DocumentError("too-large", `the document and its history have more than ${limits.history} bytes`);
  if (added > 0 && versions.byteLength + added > limits.store)
    throw new DocumentError("too-large", `all documents and their history would have more than ${limits.store} bytes`);
}
