/**
 * Another cluster's API server may send anything. What is of another type than it should be counts as absent, so that it
 * costs its own cluster something and nobody else. Nothing is copied here: thousands of nodes are read at a start.
 */
export type Received = Readonly<Record<string, unknown>>;

const nothing: Received = {};
const noItems: readonly unknown[] = [];

/** The fields of a map; none where there is no map. */
export function fieldsOf(value: unknown): Received {
  return typeof value === "object" && value !== null ? (value as Received) : nothing;
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : noItems;
}
