import { DocumentError } from "./documents.ts";
import type { DocumentKey } from "./version.ts";

const maxNameBytes = 512;
/** The longest key there is, in bytes. */
export const maxKeyBytes = 2 * maxNameBytes + 1;

/** Throws a `DocumentError` that says which of the two names is not possible and why. */
export function documentKey(collection: string, id: string): DocumentKey {
  const problem = problemOf("collection", collection) ?? problemOf("document id", id);
  if (problem) throw new DocumentError("invalid", problem);
  return `${collection}:${id}` as DocumentKey;
}

/** The key in `text`, if it is one that `documentKey` could have made. */
export function parseKey(text: string): DocumentKey | undefined {
  const { collection, id } = splitKey(text as DocumentKey);
  const isKey = text.includes(":") && !problemOf("collection", collection) && !problemOf("document id", id);
  return isKey ? (text as DocumentKey) : undefined;
}

export function splitKey(key: DocumentKey): { readonly collection: string; readonly id: string } {
  const colon = key.indexOf(":");
  return { collection: key.slice(0, colon), id: key.slice(colon + 1) };
}

function problemOf(what: "collection" | "document id", name: string): string | undefined {
  if (name === "") return `${what} must not be empty`;
  if (Buffer.byteLength(name) > maxNameBytes) return `${what} must not be longer than ${maxNameBytes} bytes`;
  if (!name.isWellFormed() || /\p{Cc}/u.test(name)) return `${what} must not contain control characters`;
  if (what === "collection" && name.includes(":")) return `${what} must not contain a colon`;
  return undefined;
}
