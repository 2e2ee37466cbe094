import { randomBytes } from "node:crypto";
import { encodeChange, getBackend, init } from "@automerge/automerge";
import { DocumentError } from "./documents.ts";
import { readFields } from "./json-read.ts";
import { writeFields } from "./json-write.ts";
import type { Heads, LiveVersion } from "./version.ts";

/** A document in Automerge's own memory. It must be freed. */
export type Handle = ReturnType<typeof getBackend>;

/** The map in the root that the fields of the document are in. */
const fieldsMap = "fields";

/**
 * Makes handles. The first change of every document is the same everywhere, so that two nodes that create a document
 * independently have one map to merge instead of two to choose from.
 */
export interface HandleFactory {
  /** A new document without content. */
  create(): Handle;
  load(version: LiveVersion): Handle;
  /** From now on changes are signed with a new actor: needed when changes that were made are taken back. */
  renewActor(): void;
}

export function createHandles(): HandleFactory {
  const empty = getBackend(init());
  const initial = empty.clone();
  initial.applyChanges([encodeChange(initialChange)]);
  let actor = newActor();
  return {
    create: () => initial.clone(actor),
    load: (version) => {
      const handle = empty.clone(actor);
      handle.loadIncremental(Buffer.concat(version.chunks));
      return handle;
    },
    renewActor: () => {
      actor = newActor();
    },
  };
}

/** An actor of a former run must not be used again: a copied or restored directory would give its numbers out twice. */
const newActor = (): string => randomBytes(16).toString("hex");

const initialChange = {
  actor: "00".repeat(16),
  author: null,
  seq: 1,
  startOp: 1,
  time: 0,
  message: null,
  deps: [],
  ops: [{ action: "makeMap", obj: "_root", key: fieldsMap, pred: [] }],
};

export function headsOf(handle: Handle): Heads {
  return handle.getHeads().sort();
}

/** Whether the document has these changes, and so everything before them. */
export function hasHeads(handle: Handle, heads: Heads): boolean {
  return handle.getMissingDeps([...heads]).length === 0;
}

export function changesSince(handle: Handle, base: Heads): Uint8Array {
  return base.length === 0 ? handle.save() : handle.saveSince([...base]);
}

/** Makes the content equal to `value`, as one change. */
export function writeContent(handle: Handle, value: unknown, atMs: number): void {
  writeFields({ handle, object: fieldsOf(handle) }, value);
  handle.commit(undefined, Math.floor(atMs / 1000));
}

/** The content as JSON text. Throws a `DocumentError` when there is none or it is longer than `maxLength`. */
export function readContent(handle: Handle, maxLength: number): string {
  return readFields(handle, fieldsOf(handle), maxLength);
}

function fieldsOf(handle: Handle): string {
  const held = handle.getWithType("_root", fieldsMap);
  if (held?.[0] !== "map") throw new DocumentError("invalid", "the document has no content");
  return held[1];
}
