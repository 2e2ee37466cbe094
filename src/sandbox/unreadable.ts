import { badRequest, type StatusError } from "./status.ts";
import type { WireObject } from "./wire-object.ts";

/** The refusal of a body that does not fit its type. */
export function unreadable({ apiVersion, kind }: WireObject, why: string): StatusError {
  const version = String(apiVersion).replace(/^.*\//, "");
  return badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${why}`);
}

/** Requires that what a field has is a time to the microsecond, as typed objects have it. */
export function requireMicroTime(object: WireObject, time: unknown): void {
  if (time === undefined) return;
  if (typeof time === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[-+]\d\d:\d\d)$/.test(time)) return;
  throw unreadable(object, `parsing time ${JSON.stringify(time)}: it has no six digits behind its seconds`);
}

/** Requires that what a field has is an integer. */
export function requireInteger(object: WireObject, path: string, value: unknown): void {
  if (value === undefined || Number.isInteger(value)) return;
  const type = typeof value === "number" ? `number ${value}` : typeof value === "boolean" ? "bool" : typeof value;
  throw unreadable(object, `json: cannot unmarshal ${type} into Go struct field ${path} of type int32`);
}
