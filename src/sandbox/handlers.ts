import { apiVersionOf } from "../kube/resource.ts";
import type { Call } from "./call.ts";
import { jsonReply, type Reply } from "./exchange.ts";
import { invalidValue } from "./field-problem.ts";
import { isMap, type JsonMap, mapOf } from "./json.ts";
import { listPage, listQueryOf, parseVersion } from "./list.ts";
import { formatOf } from "./negotiation.ts";
import { type ObjectStore, present, type Removed, type RemoveOptions } from "./object-store.ts";
import { patched } from "./patch.ts";
import { normalise } from "./prepare.ts";
import { type RenderOptions, renderList, renderObject } from "./render.ts";
import type { ResourceRoute } from "./routes.ts";
import type { ServedResource } from "./served-resource.ts";
import { badRequest, invalid, success, versionTooLarge } from "./status.ts";
import type { TableOptions } from "./table.ts";
import type { WireObject } from "./wire-object.ts";

/** A call for a resource that is served. */
export interface ResourceCall {
  readonly call: Call;
  readonly route: ResourceRoute;
  readonly served: ServedResource;
  readonly store: ObjectStore;
  readonly now: Date;
  /** Tells the client something beside the answer. */
  warn(text: string): void;
}

export interface Body {
  readonly type: string;
  readonly value: unknown;
}

export function handleGet(context: ResourceCall): Reply {
  const { store, served, call } = context;
  const asked = parseVersion(call.query.get("resourceVersion") ?? "");
  if (asked > store.revision) throw versionTooLarge(asked, store.revision);
  return objectReply(context, 200, store.get(served, refOf(context)));
}

/** `revision` overrides what the query asks for: a list from the past. */
export function handleList(context: ResourceCall, revision?: string): Reply {
  const { store, served, call, route } = context;
  const options = renderOptions(context);
  const asked = listQueryOf(call.query, route.namespace);
  const query = revision ? { ...asked, resourceVersion: revision, resourceVersionMatch: "Exact" } : asked;
  return { code: 200, pieces: renderList(served, listPage(store, served, query), options) };
}

export function handleCreate(context: ResourceCall, { value }: Body): Reply {
  const { store, served } = context;
  const object = decode(context, value);
  return objectReply(context, 201, store.create(served, object, writeOptions(context)));
}

export function handleUpdate(context: ResourceCall, { value }: Body): Reply {
  const { store, served } = context;
  const { object, created } = store.update(served, decode(context, value), writeOptions(context));
  return objectReply(context, created ? 201 : 200, object);
}

export function handlePatch(context: ResourceCall, { type, value }: Body): Reply {
  const { store, served } = context;
  const current = present(served, store.get(served, refOf(context)));
  const next = decode(context, patched(served, current, { type, body: value }));
  const { object } = store.update(served, next, { ...writeOptions(context), patch: true });
  return objectReply(context, 200, object);
}

export function handleDelete(context: ResourceCall, { value }: Body): Reply {
  const { store, served } = context;
  const removed = store.remove(served, refOf(context), removeOptions(context, value));
  return deletedReply(context, removed);
}

export function handleDeleteCollection(context: ResourceCall, { value }: Body): Reply {
  const { store, served, call, route } = context;
  const options = removeOptions(context, value);
  const { items, metadata } = listPage(store, served, listQueryOf(call.query, route.namespace));
  const removed = items.map((item) => store.remove(served, item.metadata, options).object);
  return { code: 200, pieces: renderList(served, { items: removed, metadata }, renderOptions(context)) };
}

function deletedReply(context: ResourceCall, { object, gone }: Removed): Reply {
  const { served } = context;
  if (!gone || served.rules.returnsDeleted) return objectReply(context, 200, object);
  const { name, uid } = object.metadata;
  const details = { name, ...(served.group && { group: served.group }), kind: served.plural, ...(uid && { uid }) };
  const { code: _code, ...status } = success(details);
  return jsonReply(200, status);
}

function objectReply(context: ResourceCall, code: number, stored: WireObject): Reply {
  return jsonReply(code, renderObject(context.served, stored, renderOptions(context)));
}

export function renderOptions({ call, now }: Pick<ResourceCall, "call" | "now">): RenderOptions {
  const include = (call.query.get("includeObject") ?? "Metadata") as TableOptions["include"];
  return { format: formatOf(call.accept, ["json", "table", "partial"]), now, include };
}

function refOf({ route }: ResourceCall): { name: string; namespace?: string } {
  const name = route.name ?? "";
  return route.namespace === undefined ? { name } : { name, namespace: route.namespace };
}

function writeOptions({ call, route }: ResourceCall) {
  return { subresource: route.subresource, dryRun: call.query.getAll("dryRun").includes("All") };
}

function removeOptions({ call }: ResourceCall, body: unknown): RemoveOptions {
  const options = mapOf(body);
  const { uid, resourceVersion } = mapOf(options.preconditions);
  const grace = options.gracePeriodSeconds ?? call.query.get("gracePeriodSeconds") ?? undefined;
  return {
    uid: uid === undefined ? undefined : String(uid),
    resourceVersion: resourceVersion === undefined ? undefined : String(resourceVersion),
    graceSeconds: grace === undefined ? undefined : Number(grace),
    dryRun: call.query.getAll("dryRun").includes("All") || JSON.stringify(options.dryRun) === '["All"]',
  };
}

function decode(context: ResourceCall, body: unknown): WireObject {
  const { served, call } = context;
  if (!isMap(body)) throw badRequest(`the object provided is unrecognized (must be of type ${served.kind})`);
  checkType(served, body);
  const { object, unknown } = normalise(served, withPlace(context, body));
  const texts = unknown.map((path) => `unknown field ${JSON.stringify(path)}`);
  const mode = call.query.get("fieldValidation") ?? "Warn";
  if (mode === "Strict" && texts.length > 0) {
    const what = `${served.kind} in version ${JSON.stringify(served.version)} cannot be handled as a ${served.kind}`;
    throw badRequest(`${what}: strict decoding error: ${texts.join(", ")}`);
  }
  if (mode === "Warn") texts.forEach(context.warn);
  return object;
}

function checkType(served: ServedResource, { apiVersion, kind, metadata }: JsonMap): void {
  const expected = apiVersionOf(served);
  if (served.custom && (!apiVersion || !kind)) {
    const missing = kind ? "apiVersion" : "Kind";
    throw badRequest(`Object '${missing}' is missing in the body of the request`);
  }
  if (apiVersion && apiVersion !== expected) {
    const text = `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`;
    throw badRequest(text);
  }
  if (kind && kind !== served.kind && served.custom) {
    const problem = invalidValue("kind", kind, `must be ${served.kind}`);
    throw invalid({ group: served.group, kind: String(kind) }, String(mapOf(metadata).name ?? ""), [problem]);
  }
  if (kind && kind !== served.kind) {
    const what = `${kind} in version ${JSON.stringify(served.version)} cannot be handled as a ${served.kind}`;
    throw badRequest(`${what}: converting (${kind}) to (${served.kind}): unknown conversion`);
  }
}

/** The body with the namespace and name of the URL. Throws when it names others. */
function withPlace({ route, served }: ResourceCall, body: JsonMap): JsonMap {
  const metadata = mapOf(body.metadata);
  const namespace = served.namespaced ? (route.namespace ?? "") : "";
  if (metadata.namespace && metadata.namespace !== namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  if (route.name !== undefined && !metadata.name) {
    throw badRequest(`the name of the object (${route.name} based on URL) was undeterminable: name must be provided`);
  }
  if (route.name !== undefined && metadata.name !== route.name) {
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${route.name})`);
  }
  return { ...body, metadata: { ...metadata, ...(namespace && { namespace }) } };
}
