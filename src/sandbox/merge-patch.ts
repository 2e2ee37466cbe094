import { isMap } from "./json.ts";

/** JSON merge patch (RFC 7386). Neither argument is changed. */
export function mergePatched(target: unknown, patch: unknown): unknown {
  if (!isMap(patch)) return patch;
  const result: Record<string, unknown> = isMap(target) ? { ...target } : {};
  for (const [key, change] of Object.entries(patch)) {
    if (change === null) delete result[key];
    else result[key] = mergePatched(result[key], change);
  }
  return result;
}
