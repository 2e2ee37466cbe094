import type { Handle } from "./automerge.ts";
import { DocumentError } from "./documents.ts";
import { maxDepth, memberName, parentPath } from "./fields.ts";

/** Where a rendering is, and how many characters it may still write. */
interface Cursor {
  readonly handle: Handle;
  readonly depth: number;
  readonly budget: { left: number };
}

/** The fields of a document, and which fields are members of which. */
interface Fields {
  readonly object: string;
  readonly members: ReadonlyMap<string, readonly string[]>;
}

/**
 * JSON text of the fields in a map. What kind of value is at a path decides the field there: members of what is no
 * object any more are not shown. Does not go through JavaScript objects: a field called `__proto__` is a field.
 * Values that JSON has no form for, which only a foreign program can have written, become strings.
 */
export function readFields(handle: Handle, object: string, maxLength: number): string {
  const paths = handle.keys(object);
  const members = Map.groupBy(paths, parentPath) as ReadonlyMap<string, readonly string[]>;
  return renderField({ handle, depth: 0, budget: { left: maxLength } }, { object, members }, "");
}

function renderField(cursor: Cursor, fields: Fields, path: string): string {
  const held = cursor.handle.getWithType(fields.object, path);
  if (!held) throw new DocumentError("invalid", "the document has no content");
  if (held[0] !== "map") return render(cursor, held);
  const inner = deeper(cursor);
  const members = (fields.members.get(path) ?? []).map((member) => {
    const name = spend(cursor, JSON.stringify(memberName(member)));
    return `${name}:${renderField(inner, fields, member)}`;
  });
  return `{${members.join(",")}}`;
}

function render(cursor: Cursor, [type, value]: readonly [string, unknown]): string {
  switch (type) {
    case "map":
    case "table":
      return renderMap(deeper(cursor), String(value));
    case "list":
      return renderList(deeper(cursor), String(value));
    case "text":
      return spend(cursor, JSON.stringify(cursor.handle.text(String(value))));
    default:
      return spend(cursor, renderScalar(value));
  }
}

function renderMap(cursor: Cursor, object: string): string {
  const fields = cursor.handle.keys(object).map((prop) => {
    const held = cursor.handle.getWithType(object, prop);
    return `${spend(cursor, JSON.stringify(prop))}:${render(cursor, held ?? ["null", null])}`;
  });
  return `{${fields.join(",")}}`;
}

function renderList(cursor: Cursor, object: string): string {
  const items: string[] = [];
  const length = cursor.handle.length(object);
  for (let index = 0; index < length; index++)
    items.push(render(cursor, cursor.handle.getWithType(object, index) ?? ["null", null]));
  return `[${items.join(",")}]`;
}

function renderScalar(value: unknown): string {
  if (typeof value === "bigint") return value.toString();
  if (value instanceof Uint8Array) return JSON.stringify(Buffer.from(value).toString("base64"));
  return JSON.stringify(value) ?? "null";
}

function deeper(cursor: Cursor): Cursor {
  if (cursor.depth >= maxDepth)
    throw new DocumentError("invalid", `the document is nested deeper than ${maxDepth} levels`);
  return { ...cursor, depth: cursor.depth + 1 };
}

function spend(cursor: Cursor, text: string): string {
  cursor.budget.left -= text.length + 1;
  if (cursor.budget.left < 0) throw new DocumentError("too-large", "the document is too large");
  return text;
}
