import jsonPatch, { type Operation } from "fast-json-patch";
import { cloneJson, isMap, type JsonMap } from "./json.ts";
import { mergePatched } from "./merge-patch.ts";
import type { ServedResource } from "./served-resource.ts";
import { badRequest, failureOf, unsupportedMediaType } from "./status.ts";
import { strategicPatched } from "./strategic-patch.ts";

const jsonPatchType = "application/json-patch+json";
const mergePatchType = "application/merge-patch+json";
const strategicType = "application/strategic-merge-patch+json";

/** The object that a PATCH of this media type makes of `current`. */
export function patched(
  served: ServedResource,
  current: JsonMap,
  { type, body }: { readonly type: string; readonly body: unknown },
): JsonMap {
  const result = apply(served, current, { type, body });
  if (!isMap(result)) throw badRequest("the patched object is not a map");
  return result;
}

function apply(served: ServedResource, current: JsonMap, { type, body }: { type: string; body: unknown }): unknown {
  if (type === jsonPatchType) return applyOperations(current, body);
  if (type === mergePatchType) return mergePatched(current, requireMap(body));
  if (type === strategicType && !served.custom) return strategicPatched(current, requireMap(body));
  const strategic = served.custom ? [] : [strategicType];
  throw unsupportedMediaType([jsonPatchType, mergePatchType, ...strategic]);
}

function requireMap(body: unknown): JsonMap {
  if (isMap(body)) return body;
  throw badRequest("error decoding patch: the body is not a JSON object");
}

function applyOperations(current: JsonMap, body: unknown): unknown {
  if (!Array.isArray(body)) throw badRequest("error decoding patch: the body is not a list of operations");
  const operations = body as Operation[];
  try {
    return jsonPatch.applyPatch(cloneJson(current), operations, true).newDocument;
  } catch {
    throw failureOf(422);
  }
}
