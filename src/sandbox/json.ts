export type JsonMap = Readonly<Record<string, unknown>>;

export function isMap(value: unknown): value is JsonMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The map itself, or an empty one when there is none. */
export function mapOf(value: unknown): JsonMap {
  return isMap(value) ? value : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A copy that shares nothing with the original. Properties that are undefined are left out, as in JSON text. */
export function cloneJson<T>(value: T): T {
  return copy(value) as T;
}

function copy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copy);
  if (typeof value !== "object" || value === null) return value;
  const result: Record<string, unknown> = {};
  for (const [key, child] of Object.entries(value)) {
    if (child !== undefined) result[key] = copy(child);
  }
  return result;
}

/** The value without its nulls at any depth, as a typed API server stores it; itself when it has none. */
export function withoutNulls(value: unknown): unknown {
  if (!hasNulls(value)) return value;
  if (Array.isArray(value)) return value.map(withoutNulls);
  return Object.fromEntries(
    Object.entries(mapOf(value))
      .filter(([, child]) => child !== null)
      .map(([key, child]) => [key, withoutNulls(child)]),
  );
}

function hasNulls(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  for (const key in value) {
    const child = (value as JsonMap)[key];
    if (child === null || hasNulls(child)) return true;
  }
  return false;
}

export function without(map: JsonMap, ...keys: readonly string[]): JsonMap {
  if (!keys.some((key) => Object.hasOwn(map, key))) return map;
  return Object.fromEntries(Object.entries(map).filter(([key]) => !keys.includes(key)));
}
