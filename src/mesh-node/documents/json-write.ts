import type { Handle } from "./automerge.ts";
import { fieldsOf, isRecord } from "./fields.ts";

/** A map or list of a document. */
interface Container {
  readonly handle: Handle;
  readonly object: string;
}

/** One place in it: a field or an index. */
interface Place extends Container {
  readonly prop: string | number;
}

type Held = ReturnType<Handle["getWithType"]>;

/** Makes the map hold exactly the fields of `value`, a result of JSON.parse, with as few operations as that takes. */
export function writeFields(map: Container, value: unknown): void {
  writeMap(map, fieldsOf(value), map.handle.length(map.object) === 0);
}

function writeOver(place: Place, held: Held, value: unknown): void {
  const { handle, object, prop } = place;
  if (Array.isArray(value)) {
    const isList = held?.[0] === "list";
    writeList({ handle, object: isList ? held[1] : handle.putObject(object, prop, []) }, value);
  } else if (isRecord(value)) {
    const isMap = held?.[0] === "map";
    writeMap({ handle, object: isMap ? held[1] : handle.putObject(object, prop, {}) }, membersOf(value), !isMap);
  } else {
    const scalar = scalarOf(value);
    if (held?.[0] !== scalar.type || held[1] !== scalar.value) handle.put(object, prop, scalar.value, scalar.type);
  }
}

function writeMap(map: Container, members: ReadonlyMap<string, unknown>, isNew: boolean): void {
  const { handle, object } = map;
  if (!isNew) removeOthers(map, members);
  for (const [prop, value] of members)
    writeOver({ ...map, prop }, isNew ? null : handle.getWithType(object, prop), value);
}

function removeOthers({ handle, object }: Container, wanted: ReadonlyMap<string, unknown>): void {
  for (const prop of handle.keys(object)) if (!wanted.has(prop)) handle.delete(object, prop);
}

/** Equal items at both ends stay; of the rest as many as possible are changed where they are. */
function writeList(list: Container, items: readonly unknown[]): void {
  const { handle, object } = list;
  const held = handle.length(object);
  const shorter = Math.min(held, items.length);
  let front = 0;
  while (front < shorter && isEqual(list, front, items[front])) front++;
  let back = 0;
  while (back < shorter - front && isEqual(list, held - 1 - back, items[items.length - 1 - back])) back++;
  const changed = shorter - back;
  for (let index = front; index < changed; index++)
    writeOver({ ...list, prop: index }, handle.getWithType(object, index), items[index]);
  for (let index = held - back - 1; index >= changed; index--) handle.delete(object, index);
  for (let index = changed; index < items.length - back; index++) insert(list, index, items[index]);
}

function insert(list: Container, index: number, value: unknown): void {
  const { handle, object } = list;
  if (Array.isArray(value)) writeList({ handle, object: handle.insertObject(object, index, []) }, value);
  else if (isRecord(value))
    writeMap({ handle, object: handle.insertObject(object, index, {}) }, membersOf(value), true);
  else {
    const scalar = scalarOf(value);
    handle.insert(object, index, scalar.value, scalar.type);
  }
}

function isEqual(container: Container, prop: string | number, value: unknown): boolean {
  const { handle, object } = container;
  const held = handle.getWithType(object, prop);
  if (!held) return false;
  if (Array.isArray(value)) {
    if (held[0] !== "list" || handle.length(held[1]) !== value.length) return false;
    const list = { handle, object: held[1] };
    return value.every((item, index) => isEqual(list, index, item));
  }
  if (isRecord(value)) return held[0] === "map" && isEqualMap({ handle, object: held[1] }, value);
  const scalar = scalarOf(value);
  return held[0] === scalar.type && held[1] === scalar.value;
}

function isEqualMap(map: Container, value: Readonly<Record<string, unknown>>): boolean {
  const entries = Object.entries(value);
  if (map.handle.keys(map.object).length !== entries.length) return false;
  return entries.every(([prop, field]) => isEqual(map, prop.toWellFormed(), field));
}

function membersOf(value: Readonly<Record<string, unknown>>): ReadonlyMap<string, unknown> {
  return new Map(Object.entries(value).map(([name, member]) => [name.toWellFormed(), member]));
}

type Scalar =
  | { readonly type: "null"; readonly value: null }
  | { readonly type: "boolean"; readonly value: boolean }
  | { readonly type: "str"; readonly value: string }
  | { readonly type: "int" | "f64"; readonly value: number };

function scalarOf(value: unknown): Scalar {
  if (value === null) return { type: "null", value };
  if (typeof value === "boolean") return { type: "boolean", value };
  if (typeof value === "string") return { type: "str", value: value.toWellFormed() };
  if (typeof value === "number") return { type: Number.isSafeInteger(value) ? "int" : "f64", value };
  throw new Error(`${typeof value} is no JSON value`);
}
