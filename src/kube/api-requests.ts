import type { CallOptions, DeleteOptions, ListOptions, MergePatch, WatchOptions, WriteOptions } from "./client.ts";
import type { Call as Request } from "./http-call.ts";
import type { KubeObject, ObjectRef } from "./object.ts";
import { apiVersionOf, collectionPath, objectPath, type Resource } from "./resource.ts";

export function getRequest(resource: Resource, ref: ObjectRef, options: CallOptions = {}): Request {
  return { verb: "get", method: "GET", path: objectPath(resource, ref), ...about(resource, options, ref) };
}

export function listRequest(resource: Resource, options: ListOptions): Request {
  const { namespace, labelSelector, fieldSelector, limit, continue: next } = options;
  // The API refuses a version beside a continue token, which holds one.
  const resourceVersion = next ? undefined : options.resourceVersion;
  const query = queryOf({
    labelSelector,
    fieldSelector,
    limit,
    continue: next,
    resourceVersion,
    resourceVersionMatch: resourceVersion && "NotOlderThan",
  });
  return {
    verb: "list",
    method: "GET",
    path: collectionPath(resource, namespace) + query,
    ...about(resource, options),
  };
}

export function watchRequest(resource: Resource, options: WatchOptions): Request {
  const { namespace, labelSelector, fieldSelector, resourceVersion, timeoutSeconds } = options;
  const query = queryOf({
    watch: 1,
    allowWatchBookmarks: true,
    labelSelector,
    fieldSelector,
    resourceVersion,
    timeoutSeconds,
  });
  return {
    verb: "watch",
    method: "GET",
    path: collectionPath(resource, namespace) + query,
    ...about(resource, options),
  };
}

export function createRequest(resource: Resource, object: KubeObject, options: CallOptions = {}): Request {
  const { namespace } = object.metadata;
  if (resource.namespaced && !namespace) throw new Error(`a ${resource.kind} cannot be created without a namespace`);
  const path = collectionPath(resource, namespace);
  return {
    verb: "create",
    method: "POST",
    path,
    ...json(typed(resource, object)),
    ...about(resource, options, object.metadata),
  };
}

export function replaceRequest(resource: Resource, object: KubeObject, options: WriteOptions = {}): Request {
  const path = objectPath(resource, object.metadata, options.subresource);
  return {
    verb: "replace",
    method: "PUT",
    path,
    ...json(typed(resource, object)),
    ...about(resource, options, object.metadata),
  };
}

export function patchRequest(resource: Resource, ref: ObjectRef, change: MergePatch): Request {
  const path = objectPath(resource, ref, change.subresource);
  const content = json(change.body, "application/merge-patch+json");
  return { verb: "patch", method: "PATCH", path, ...content, ...about(resource, change, ref) };
}

export function deleteRequest(resource: Resource, ref: ObjectRef, options: DeleteOptions = {}): Request {
  const { uid, resourceVersion } = options;
  const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
  const content = uid || resourceVersion ? json({ apiVersion: "v1", kind: "DeleteOptions", preconditions }) : {};
  return {
    verb: "delete",
    method: "DELETE",
    path: objectPath(resource, ref),
    ...content,
    ...about(resource, options, ref),
  };
}

function about(resource: Resource, options: CallOptions, ref?: ObjectRef) {
  return { resource, signal: options.signal, deadlineMs: options.deadlineMs, ...(ref && { name: ref.name }) };
}

function json(value: unknown, contentType = "application/json") {
  return { body: JSON.stringify(value), contentType };
}

function typed(resource: Resource, object: KubeObject): KubeObject {
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, ...object };
}

function queryOf(values: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(values)) {
    if (value !== undefined && value !== "") query.set(key, String(value));
  }
  return query.size > 0 ? `?${query}` : "";
}
