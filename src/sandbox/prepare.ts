import { sameJson } from "../api/same-json.ts";
import { apiVersionOf } from "../kube/resource.ts";
import type { FieldProblem } from "./field-problem.ts";
import { isMap, type JsonMap, without, withoutNulls } from "./json.ts";
import { validateMeta, validateMetaChange } from "./metadata-validation.ts";
import { shape } from "./schema.ts";
import { validate } from "./schema-validation.ts";
import type { ServedResource } from "./served-resource.ts";
import { badRequest, invalid } from "./status.ts";
import { type WireMeta, type WireObject, withMeta, withoutMeta } from "./wire-object.ts";

export interface Normalised {
  readonly object: WireObject;
  /** Paths of fields that the resource does not have. They are gone from `object`. */
  readonly unknown: readonly string[];
}

/** An object as the resource stores it: known metadata only, no nulls, pruned and defaulted. */
export function normalise(served: ServedResource, body: JsonMap): Normalised {
  const head = { apiVersion: apiVersionOf(served), kind: served.kind };
  const metadata = normalMeta(served, body.metadata);
  const strange = strangeMeta(body.metadata);
  if (served.schema) {
    const { value, unknown } = shape({ ...body, ...head, metadata }, served.schema);
    return { object: value as WireObject, unknown: [...strange, ...unknown] };
  }
  const typed = without(withoutNulls(body) as JsonMap, "apiVersion", "kind", "metadata");
  const unknown = Object.keys(typed).filter((field) => !served.fields.includes(field));
  const object: WireObject = { ...head, ...without(typed, ...unknown), metadata };
  served.rules.decode?.(object);
  return { object: served.fromWire ? served.fromWire(object) : object, unknown: [...strange, ...unknown] };
}

const metaFields: readonly (keyof WireMeta)[] = [
  "name",
  "generateName",
  "namespace",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "labels",
  "annotations",
  "ownerReferences",
  "finalizers",
];

/** Read and dropped without a word. */
const ignoredMeta: readonly string[] = ["managedFields", "selfLink"];

function strangeMeta(value: unknown): readonly string[] {
  const known: readonly string[] = [...metaFields, ...ignoredMeta];
  const strange = Object.keys(isMap(value) ? value : {}).filter((field) => !known.includes(field));
  return strange.map((field) => `metadata.${field}`);
}

function normalMeta(served: ServedResource, value: unknown): WireMeta {
  const meta = withoutNulls(isMap(value) ? value : {}) as JsonMap;
  for (const field of ["labels", "annotations"] as const) requireTexts(served, meta, field);
  const kept = metaFields.filter((field) => !isEmpty(meta[field])).map((field) => [field, meta[field]]);
  return Object.fromEntries(kept) as WireMeta;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === "") return true;
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

function requireTexts({ kind, version }: ServedResource, meta: JsonMap, field: "labels" | "annotations"): void {
  const texts = meta[field];
  if (texts === undefined) return;
  const stray = isMap(texts) ? Object.values(texts).find((text) => typeof text !== "string") : texts;
  if (stray === undefined) return;
  const what = `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}`;
  const type = typeof stray === "boolean" ? "bool" : typeof stray;
  const where = `Go struct field ObjectMeta.metadata.${field} of type string`;
  throw badRequest(`${what}: json: cannot unmarshal ${type} into ${where}`);
}

export interface Birth {
  readonly uid: string;
  readonly now: Date;
}

/** What is stored when `object` is created. Throws `Invalid`. */
export function prepareCreate(served: ServedResource, object: WireObject, { uid, now }: Birth): WireObject {
  const { rules } = served;
  const alive = withoutMeta(object, "deletionTimestamp", "deletionGracePeriodSeconds", "resourceVersion");
  const born = withMeta(alive, {
    uid,
    creationTimestamp: timestamp(now),
    ...(rules.generation === "none" ? {} : { generation: 1 }),
  });
  const bare = rules.status === "guarded" ? withoutField(born, "status") : born;
  const next = rules.prepare ? rules.prepare(bare, undefined) : bare;
  refuse(served, next, [...validateMeta(next.metadata, rules.name), ...contentProblems(served, next, undefined)]);
  return next;
}

/** What is stored when `previous` is replaced by `object` through the main endpoint or /status. Throws `Invalid`. */
export function prepareUpdate(
  served: ServedResource,
  { object, previous, subresource }: { object: WireObject; previous: WireObject; subresource: string | undefined },
): WireObject {
  const { rules } = served;
  const merged = subresource === "status" ? mergeStatus(served, object, previous) : mergeMain(served, object, previous);
  const kept = keepIdentity(merged, previous);
  const prepared = rules.prepare ? rules.prepare(kept, previous) : kept;
  const next = contentChanged(served, prepared, previous) ? nextGeneration(prepared) : prepared;
  const problems = validateMetaChange(next.metadata, previous.metadata);
  const content =
    subresource === "status" ? statusProblems(served, next, previous) : contentProblems(served, next, previous);
  refuse(served, next, [...problems, ...content]);
  return next;
}

export function timestamp(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}

export function nextGeneration(object: WireObject): WireObject {
  const { generation } = object.metadata;
  return generation === undefined ? object : withMeta(object, { generation: generation + 1 });
}

function withoutField(object: WireObject, field: string): WireObject {
  return without(object, field) as WireObject;
}

function mergeMain(served: ServedResource, object: WireObject, previous: WireObject): WireObject {
  if (served.rules.status === "none") return object;
  return withStatusOf(object, previous);
}

function mergeStatus(served: ServedResource, object: WireObject, previous: WireObject): WireObject {
  const base = served.rules.metaThroughStatus ? { ...previous, metadata: object.metadata } : previous;
  return withStatusOf(base, object);
}

function withStatusOf(object: WireObject, source: WireObject): WireObject {
  const bare = withoutField(object, "status");
  return source.status === undefined ? bare : { ...bare, status: source.status };
}

function keepIdentity(object: WireObject, { metadata: before }: WireObject): WireObject {
  const own = withoutMeta(object, "generation", "deletionTimestamp", "deletionGracePeriodSeconds", "resourceVersion");
  const change: Record<string, unknown> = {};
  for (const field of [
    "uid",
    "creationTimestamp",
    "generation",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "resourceVersion",
  ] as const) {
    if (before[field] === undefined || (field === "uid" && own.metadata.uid)) continue;
    change[field] = before[field];
  }
  return withMeta(own, change);
}

function contentChanged(served: ServedResource, next: WireObject, previous: WireObject): boolean {
  const { generation, status } = served.rules;
  if (generation === "none") return false;
  if (generation === "spec") return !sameJson(next.spec, previous.spec);
  const ignored = status === "none" ? ["metadata"] : ["metadata", "status"];
  return !sameJson(without(next, "apiVersion", ...ignored), without(previous, "apiVersion", ...ignored));
}

function contentProblems(served: ServedResource, next: WireObject, previous: WireObject | undefined): FieldProblem[] {
  const own = served.rules.validate?.(next, previous) ?? [];
  return [...own, ...(served.schema ? validate(next, withoutMetaSchema(served), "") : [])];
}

/** Through /status only the status of a custom resource is looked at, and named without its first step. */
function statusProblems(served: ServedResource, next: WireObject, previous: WireObject): FieldProblem[] {
  const schema = served.schema?.properties?.status;
  if (!schema || next.status === undefined) return [...(served.rules.validate?.(next, previous) ?? [])];
  return validate(next.status, schema).map((problem) => ({ ...problem, field: `status.${problem.field}` }));
}

function withoutMetaSchema({ schema = {} }: ServedResource) {
  return { ...schema, properties: without(schema.properties ?? {}, "metadata") as typeof schema.properties & {} };
}

function refuse(served: ServedResource, object: WireObject, problems: readonly FieldProblem[]): void {
  if (problems.length > 0) throw invalid(served, object.metadata.name ?? "", problems);
}
