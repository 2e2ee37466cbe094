import { DocumentError } from "./documents.ts";

/** Objects and arrays may be nested so deep. */
export const maxDepth = 100;

/**
 * A JSON value as fields: every object an empty object at its path, and behind it its members at theirs. So two nodes
 * that create one object independently have the same fields to merge, however deep it is. Arrays stay whole.
 */
export function fieldsOf(value: unknown): ReadonlyMap<string, unknown> {
  const fields = new Map<string, unknown>();
  addFields(fields, "", value, 0);
  return fields;
}

/** The path of the object that a path is a member of; none for the whole document. */
export function parentPath(path: string): string | undefined {
  return path === "" ? undefined : path.slice(0, path.lastIndexOf("/"));
}

/** The name of the member that a path leads to. */
export function memberName(path: string): string {
  return path
    .slice(path.lastIndexOf("/") + 1)
    .replaceAll("~1", "/")
    .replaceAll("~0", "~");
}

function memberPath(path: string, name: string): string {
  return `${path}/${name.toWellFormed().replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

function addFields(...[fields, path, value, depth]: [Map<string, unknown>, string, unknown, number]): void {
  if (!isRecord(value)) {
    throwIfDeep(value, depth);
    fields.set(path, value);
    return;
  }
  throwIfDeeper(depth);
  fields.set(path, {});
  for (const [name, member] of Object.entries(value)) addFields(fields, memberPath(path, name), member, depth + 1);
}

function throwIfDeep(value: unknown, depth: number): void {
  if (typeof value !== "object" || value === null) return;
  throwIfDeeper(depth);
  for (const member of Object.values(value)) throwIfDeep(member, depth + 1);
}

function throwIfDeeper(depth: number): void {
  if (depth >= maxDepth) throw new DocumentError("invalid", `the document is nested deeper than ${maxDepth} levels`);
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
