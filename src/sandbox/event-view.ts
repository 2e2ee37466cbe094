import type { WireObject } from "./wire-object.ts";

/** Core v1 name and events.k8s.io/v1 name of the same field. Events are stored in the core form. */
const renamed: readonly (readonly [string, string])[] = [
  ["involvedObject", "regarding"],
  ["message", "note"],
  ["reportingComponent", "reportingController"],
  ["source", "deprecatedSource"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
];

const sameInBoth = ["action", "eventTime", "reason", "related", "reportingInstance", "series", "type"];

export const coreEventFields: readonly string[] = [...sameInBoth, ...renamed.map(([core]) => core)];
export const wireEventFields: readonly string[] = [...sameInBoth, ...renamed.map(([, wire]) => wire)];

export function eventToWire(stored: WireObject): WireObject {
  return { ...rename(stored, new Map(renamed)), apiVersion: "events.k8s.io/v1" };
}

export function eventFromWire(object: WireObject): WireObject {
  const toCore = new Map(renamed.map(([core, wire]) => [wire, core] as const));
  return { ...rename(object, toCore), apiVersion: "v1" };
}

function rename(object: WireObject, names: ReadonlyMap<string, string>): WireObject {
  const entries = Object.entries(object).map(([field, value]) => [names.get(field) ?? field, value] as const);
  return Object.fromEntries(entries) as unknown as WireObject;
}
