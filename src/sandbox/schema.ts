import { cloneJson, isMap, type JsonMap } from "./json.ts";

/** The parts of an OpenAPI v3 structural schema that decide what is stored. */
export interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly not?: Schema;
  readonly description?: string;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-embedded-resource"?: boolean;
  readonly "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
}

export interface Shaped {
  readonly value: unknown;
  /** Paths of fields that the schema does not know and that were dropped. */
  readonly unknown: readonly string[];
}

const typeFields: readonly string[] = ["apiVersion", "kind", "metadata"];

/** Drops what the schema does not know and fills in its defaults: what an API server does before it validates. */
export function shape(object: JsonMap, schema: Schema): Shaped {
  const unknown: string[] = [];
  const { apiVersion, kind, metadata, ...fields } = object;
  const own = schema.properties ? { ...schema, properties: withoutTypeFields(schema.properties) } : schema;
  const pruned = prune(withDefaults(fields, own), { schema: own, path: "", unknown });
  return { value: { apiVersion, kind, metadata, ...(pruned as JsonMap) }, unknown };
}

function withoutTypeFields(properties: Readonly<Record<string, Schema>>): Readonly<Record<string, Schema>> {
  return Object.fromEntries(Object.entries(properties).filter(([name]) => !typeFields.includes(name)));
}

function withDefaults(value: unknown, schema: Schema | undefined): unknown {
  if (!schema) return value;
  if (Array.isArray(value)) return value.map((item) => withDefaults(orDefault(item, schema.items), schema.items));
  if (!isMap(value)) return value;
  const result: Record<string, unknown> = {};
  for (const [name, child] of Object.entries(value)) {
    const childSchema = schemaOf(schema, name);
    const filled = orDefault(child, childSchema);
    if (filled !== null || keepsNull(childSchema)) result[name] = withDefaults(filled, childSchema);
  }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (property.default === undefined || Object.hasOwn(result, name)) continue;
    result[name] = withDefaults(cloneJson(property.default), property);
  }
  return result;
}

function orDefault(value: unknown, schema: Schema | undefined): unknown {
  if (value !== null || !schema || schema.nullable || schema.default === undefined) return value;
  return cloneJson(schema.default);
}

function keepsNull(schema: Schema | undefined): boolean {
  return !schema || schema.nullable === true;
}

function schemaOf(schema: Schema, name: string): Schema | undefined {
  if (schema.properties && Object.hasOwn(schema.properties, name)) return schema.properties[name];
  return typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;
}

interface PruneAt {
  readonly schema: Schema | undefined;
  readonly path: string;
  readonly unknown: string[];
}

function prune(value: unknown, at: PruneAt): unknown {
  const { schema, path, unknown } = at;
  if (Array.isArray(value)) {
    const items = schema?.["x-kubernetes-preserve-unknown-fields"] && !schema.items ? preserve : schema?.items;
    return value.map((item, index) => prune(item, { schema: items, path: `${path}[${index}]`, unknown }));
  }
  if (!isMap(value)) return value;
  const result: Record<string, unknown> = {};
  for (const [name, child] of Object.entries(value)) {
    const childPath = path === "" ? name : `${path}.${name}`;
    const childSchema = schema && schemaForPruning(schema, name);
    if (childSchema) result[name] = prune(child, { schema: childSchema, path: childPath, unknown });
    else unknown.push(childPath);
  }
  return result;
}

const preserve: Schema = { "x-kubernetes-preserve-unknown-fields": true };

function schemaForPruning(schema: Schema, name: string): Schema | undefined {
  const known = schemaOf(schema, name);
  if (known) return known;
  if (schema["x-kubernetes-embedded-resource"] && typeFields.includes(name)) return preserve;
  if (schema["x-kubernetes-preserve-unknown-fields"] || schema.additionalProperties === true) return preserve;
  return undefined;
}
