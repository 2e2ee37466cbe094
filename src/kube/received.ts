import type { KubeList, KubeObject } from "./object.ts";

/** The value as an object of the API, or `undefined` if it is none. What its fields hold is for the caller to check. */
export function objectIn<T extends KubeObject>(value: unknown): T | undefined {
  return isRecord(value) && isRecord(value.metadata) ? (value as unknown as T) : undefined;
}

/** The value as a page of a list, or `undefined` if it is none. `items: null` is an empty list. */
export function pageIn<T extends KubeObject>(value: unknown): KubeList<T> | undefined {
  if (!isRecord(value) || !isRecord(value.metadata)) return undefined;
  const { items, metadata } = value;
  const { resourceVersion } = metadata;
  const list = items ?? [];
  if (!Array.isArray(list) || typeof resourceVersion !== "string" || !("items" in value)) return undefined;
  const next = metadata.continue;
  return {
    metadata: { resourceVersion, ...(typeof next === "string" && next !== "" && { continue: next }) },
    items: list,
  };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
