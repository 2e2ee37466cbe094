import { type FieldProblem, forbiddenField, notSupported } from "./field-problem.ts";
import type { StoredEvent } from "./history.ts";
import type { ObjectStore } from "./object-store.ts";
import { isTrue } from "./routes.ts";
import type { Selects } from "./selectors.ts";
import type { ServedResource } from "./served-resource.ts";
import { expired, invalid, plainFailure, type StatusError } from "./status.ts";
import { type WireObject, withMeta } from "./wire-object.ts";

export interface WatchQuery {
  /** 0: the state of now first. */
  readonly resourceVersion: number;
  readonly bookmarks: boolean;
  readonly timeoutSeconds: number;
  /** The initial state comes first and ends with a marked bookmark. */
  readonly initialEvents: boolean;
}

const longestWatchSeconds = 1800;

export function watchQueryOf(query: URLSearchParams): WatchQuery {
  const problems = queryProblems(query);
  if (problems.length > 0) throw invalid({ group: "meta.k8s.io", kind: "ListOptions" }, "", problems);
  const version = query.get("resourceVersion") ?? "";
  if (!/^\d*$/.test(version)) {
    const shown = JSON.stringify(version);
    const why = `strconv.ParseUint: parsing ${shown}: invalid syntax`;
    throw plainFailure(500, `resourceVersion: Invalid value: ${shown}: ${why}`);
  }
  return {
    resourceVersion: Number(version),
    bookmarks: isTrue(query.get("allowWatchBookmarks")),
    timeoutSeconds: Number(query.get("timeoutSeconds") ?? 0) || longestWatchSeconds,
    initialEvents: isTrue(query.get("sendInitialEvents")),
  };
}

function queryProblems(query: URLSearchParams): FieldProblem[] {
  const match = query.get("resourceVersionMatch") ?? "";
  const field = "resourceVersionMatch";
  if (!query.has("sendInitialEvents")) {
    if (match === "") return [];
    const lone = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
    return [forbiddenField(field, lone), ...unsupportedMatch(match)];
  }
  if (match === "NotOlderThan") return [];
  const needed = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
  return [forbiddenField(field, needed), ...(match === "" ? [] : unsupportedMatch(match))];
}

function unsupportedMatch(match: string): FieldProblem[] {
  return match === "NotOlderThan" ? [] : [notSupported("resourceVersionMatch", match, ["NotOlderThan"])];
}

/** The events that a new watch sends before anything changes, or the error it sends instead. */
export function eventsBefore(
  store: ObjectStore,
  served: ServedResource,
  query: WatchQuery,
): readonly StoredEvent[] | StatusError {
  const collection = store.collection(served.storedAs);
  const asked = query.resourceVersion;
  if (asked === 0 || query.initialEvents) return collection.all().map(asAdded);
  const events = collection.history.since(asked);
  return events ?? expired(`too old resource version: ${asked} (${collection.history.lostUpTo})`);
}

function asAdded(object: WireObject): StoredEvent {
  const revision = Number(object.metadata.resourceVersion);
  return { revision, object, previous: undefined, deleted: false, frames: new Map(), waiting: 0 };
}

export interface WatchChange {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: WireObject;
}

/** What a change is to a watch that selects only some objects; undefined when it does not concern it. */
export function changeFor(event: StoredEvent, selects: Selects): WatchChange | undefined {
  const was = event.previous !== undefined && selects(event.previous);
  const is = !event.deleted && selects(event.object);
  if (is) return { type: was ? "MODIFIED" : "ADDED", object: event.object };
  if (!was || !event.previous) return undefined;
  if (event.deleted) return { type: "DELETED", object: event.object };
  return { type: "DELETED", object: withMeta(event.previous, { resourceVersion: String(event.revision) }) };
}
