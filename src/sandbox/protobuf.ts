import { listOf, mapOf } from "./json.ts";
import { badRequest } from "./status.ts";

/** How a field of a message becomes JSON. */
export type FieldType =
  | "text"
  | "texts"
  | "integer"
  | "boolean"
  | "time"
  | "micro-time"
  | "text-map"
  | "bytes-map"
  | { readonly one: Message }
  | { readonly many: Message };

/** The fields of a message by their number. */
export type Message = Readonly<Record<number, readonly [name: string, type: FieldType]>>;

interface Part {
  readonly field: number;
  readonly value: number | Buffer;
}

/** The JSON form of a message. Fields that the description lacks are left out, and so are empty texts. */
export function decodeMessage(bytes: Buffer, message: Message): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const { field, value } of partsOf(bytes)) {
    const [name, type] = message[field] ?? [];
    if (name === undefined || type === undefined) continue;
    const decoded = decodeField(value, type, result[name]);
    if (decoded !== "" && decoded !== undefined) result[name] = decoded;
  }
  return result;
}

function decodeField(value: number | Buffer, type: FieldType, before: unknown): unknown {
  if (typeof value === "number") return type === "boolean" ? value !== 0 : value;
  if (typeof type === "object") return decodeNested(value, type, before);
  switch (type) {
    case "time":
      return decodeTime(value, false);
    case "micro-time":
      return decodeTime(value, true);
    case "texts":
      return [...listOf(before), value.toString()];
    case "text-map":
      return { ...mapOf(before), ...decodeEntry(value, "utf8") };
    case "bytes-map":
      return { ...mapOf(before), ...decodeEntry(value, "base64") };
    default:
      return value.toString();
  }
}

function decodeNested(value: Buffer, type: Extract<FieldType, object>, before: unknown): unknown {
  return "one" in type ? decodeMessage(value, type.one) : [...listOf(before), decodeMessage(value, type.many)];
}

function decodeEntry(bytes: Buffer, encoding: "utf8" | "base64"): Record<string, string> {
  const parts = [...partsOf(bytes)];
  const text = (field: number, as: "utf8" | "base64"): string => {
    const value = parts.find((part) => part.field === field)?.value;
    return Buffer.isBuffer(value) ? value.toString(as) : "";
  };
  return { [text(1, "utf8")]: text(2, encoding) };
}

function decodeTime(bytes: Buffer, micro: boolean): string | undefined {
  const parts = [...partsOf(bytes)];
  const seconds = Number(parts.find((part) => part.field === 1)?.value ?? 0);
  const nanos = Number(parts.find((part) => part.field === 2)?.value ?? 0);
  if (seconds === 0) return undefined;
  const iso = new Date(seconds * 1000).toISOString().slice(0, 19);
  return micro ? `${iso}.${String(Math.floor(nanos / 1000)).padStart(6, "0")}Z` : `${iso}Z`;
}

export function* partsOf(bytes: Buffer): Generator<Part> {
  let at = 0;
  const varint = (): number => {
    let result = 0;
    for (let scale = 1; at < bytes.length; scale *= 128) {
      const byte = bytes[at] ?? 0;
      at += 1;
      result += (byte & 127) * scale;
      if (byte < 128) return result;
    }
    throw badRequest("the protobuf body is cut short");
  };
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw badRequest("the protobuf body is cut short");
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = varint();
    const field = Math.floor(tag / 8);
    const wire = tag % 8;
    if (wire === 0) yield { field, value: varint() };
    else if (wire === 2) yield { field, value: take(varint()) };
    else if (wire === 1 || wire === 5) yield { field, value: take(wire === 1 ? 8 : 4) };
    else throw badRequest("the protobuf body has a field of an unknown kind");
  }
}
