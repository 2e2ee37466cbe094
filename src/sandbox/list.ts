import { keyOf } from "../kube/object.ts";
import { byCodeUnits } from "./collection.ts";
import { type FieldProblem, forbiddenField, notSupported } from "./field-problem.ts";
import { isMap } from "./json.ts";
import type { ObjectStore } from "./object-store.ts";
import type { ListMeta } from "./render.ts";
import { type Selects, selectorOf } from "./selectors.ts";
import type { ServedResource } from "./served-resource.ts";
import { badRequest, expired, invalid, versionTooLarge } from "./status.ts";
import type { WireObject } from "./wire-object.ts";

export interface ListQuery {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  readonly limit: number;
  readonly continue: string;
}

export interface ListResult {
  readonly items: readonly WireObject[];
  readonly metadata: ListMeta;
}

export function listQueryOf(query: URLSearchParams, namespace: string | undefined): ListQuery {
  return {
    namespace,
    labelSelector: query.get("labelSelector") ?? undefined,
    fieldSelector: query.get("fieldSelector") ?? undefined,
    resourceVersion: query.get("resourceVersion") ?? "",
    resourceVersionMatch: query.get("resourceVersionMatch") ?? "",
    limit: parseLimit(query.get("limit") ?? ""),
    continue: query.get("continue") ?? "",
  };
}

function parseLimit(text: string): number {
  if (/^-?\d*$/.test(text)) return Number(text);
  throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
}

/** One page of a list, by the rules of resourceVersion, resourceVersionMatch, limit and continue. */
export function listPage(store: ObjectStore, served: ServedResource, query: ListQuery): ListResult {
  const problems = queryProblems(query);
  if (problems.length > 0) throw invalid({ group: "meta.k8s.io", kind: "ListOptions" }, "", problems);
  const selects = selectorOf(served, query);
  const from = startOf(store, query);
  const all = objectsAt(store, served, from);
  const inScope = query.namespace ? all.filter((object) => object.metadata.namespace === query.namespace) : all;
  const rest = from.after === undefined ? inScope : inScope.slice(firstAfter(inScope, from.after));
  const limit = query.resourceVersion === "0" && query.resourceVersionMatch === "" ? 0 : query.limit;
  return pageOf(rest, { selects, limit, revision: from.revision, counted: isUnselective(query) });
}

interface Start {
  readonly revision: number;
  /** The key of the last object of the page before. */
  readonly after?: string;
}

function startOf(store: ObjectStore, query: ListQuery): Start {
  const asked = parseVersion(query.resourceVersion);
  if (query.continue !== "") {
    if (query.resourceVersion !== "" && query.resourceVersion !== "0") {
      throw badRequest("specifying resource version is not allowed when using continue");
    }
    return parseToken(query.continue, store.revision);
  }
  if (asked > store.revision) throw versionTooLarge(asked, store.revision);
  const exact = query.resourceVersionMatch === "Exact" || (query.resourceVersionMatch === "" && query.limit > 0);
  return { revision: asked > 0 && exact ? asked : store.revision };
}

export function parseVersion(text: string): number {
  if (text === "") return 0;
  if (/^\d+$/.test(text)) return Number(text);
  const shown = JSON.stringify(text);
  const why = `strconv.ParseUint: parsing ${shown}: invalid syntax`;
  throw badRequest(`invalid resource version: resourceVersion: Invalid value: ${shown}: ${why}`);
}

function objectsAt(store: ObjectStore, served: ServedResource, { revision, after }: Start): readonly WireObject[] {
  const collection = store.collection(served.storedAs);
  const objects = revision === store.revision ? collection.all() : collection.asOf(revision);
  if (objects) return objects;
  if (after === undefined) throw expired("The resourceVersion for the provided list is too old.");
  throw expired(tokenExpired, encodeToken(-1, after));
}

const tokenExpired =
  "The provided continue parameter is too old to display a consistent list result. You can start a new list without " +
  "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. " +
  "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or " +
  "deleted between the time the first chunk was returned and now may show up in the list.";

function firstAfter(objects: readonly WireObject[], key: string): number {
  const at = objects.findIndex((object) => byCodeUnits(keyOf(object.metadata), key) > 0);
  return at < 0 ? objects.length : at;
}

interface PageOptions {
  readonly selects: Selects;
  readonly limit: number;
  readonly revision: number;
  readonly counted: boolean;
}

function pageOf(objects: readonly WireObject[], { selects, limit, revision, counted }: PageOptions): ListResult {
  const selected = objects.filter(selects);
  const resourceVersion = String(revision);
  const last = limit > 0 && selected.length > limit ? selected[limit - 1] : undefined;
  if (!last) return { items: selected, metadata: { resourceVersion } };
  return {
    items: selected.slice(0, limit),
    metadata: {
      resourceVersion,
      continue: encodeToken(revision, keyOf(last.metadata)),
      ...(counted && { remainingItemCount: selected.length - limit }),
    },
  };
}

function isUnselective({ labelSelector, fieldSelector }: ListQuery): boolean {
  return !labelSelector && !fieldSelector;
}

function encodeToken(revision: number, after: string): string {
  const token = { v: "meta.k8s.io/v1", rv: revision, start: `${after}\u0000` };
  return Buffer.from(JSON.stringify(token)).toString("base64url");
}

function parseToken(text: string, current: number): Start {
  const token = readToken(text);
  const { rv, start } = isMap(token) ? token : {};
  if (typeof rv !== "number" || typeof start !== "string")
    throw badRequest("invalid continue token: continue key is not valid");
  return { revision: rv === -1 ? current : rv, after: start.endsWith("\u0000") ? start.slice(0, -1) : start };
}

function readToken(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, "base64url").toString());
  } catch {
    return undefined;
  }
}

function queryProblems({ resourceVersion, resourceVersionMatch: match, continue: token }: ListQuery): FieldProblem[] {
  if (match === "") return [];
  const problems: FieldProblem[] = [];
  const refuse = (why: string) => problems.push(forbiddenField("resourceVersionMatch", `resourceVersionMatch ${why}`));
  if (resourceVersion === "") refuse("is forbidden unless resourceVersion is provided");
  if (token !== "") refuse("is forbidden when continue is provided");
  if (match !== "Exact" && match !== "NotOlderThan") {
    problems.push(notSupported("resourceVersionMatch", match, ["Exact", "NotOlderThan", ""]));
  }
  if (match === "Exact" && resourceVersion === "0") refuse('"exact" is forbidden for resourceVersion "0"');
  return problems;
}
