import { type FieldProblem, invalidValue, notSupported, required } from "./field-problem.ts";
import { isMap } from "./json.ts";
import { type Schema, shape } from "./schema.ts";
import { validate } from "./schema-validation.ts";

const types = ["array", "boolean", "integer", "number", "object", "string"];

/** Everything that keeps the schema of a definition from being structural, and defaults that it refuses itself. */
export function structuralProblems(schema: Schema, path: string): FieldProblem[] {
  if (!schema.type) return [required(`${path}.type`, "must not be empty at the root")];
  if (schema.type !== "object") return [invalidValue(`${path}.type`, schema.type, "must be object at the root")];
  return fieldProblems(schema, path);
}

function fieldProblems(schema: Schema, path: string): FieldProblem[] {
  return [...typeProblems(schema, path), ...ownProblems(schema, path), ...childProblems(schema, path)];
}

function typeProblems(schema: Schema, path: string): FieldProblem[] {
  const typeless = schema["x-kubernetes-int-or-string"] || schema["x-kubernetes-preserve-unknown-fields"];
  if (schema.type && !types.includes(schema.type)) return [notSupported(`${path}.type`, schema.type, types)];
  return schema.type || typeless ? [] : [required(`${path}.type`, "must not be empty for specified object fields")];
}

function ownProblems(schema: Schema, path: string): FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (schema.type === "array" && !schema.items) problems.push(required(`${path}.items`, "must be specified"));
  if (schema.pattern !== undefined && !isRegularExpression(schema.pattern)) {
    problems.push(invalidValue(`${path}.pattern`, schema.pattern, "must be a valid regular expression, but isn't"));
  }
  if (schema.default !== undefined) problems.push(...defaultProblems(schema, `${path}.default`));
  if (schema["x-kubernetes-list-type"] === "map") problems.push(...listMapProblems(schema, path));
  return problems;
}

function childProblems(schema: Schema, path: string): FieldProblem[] {
  const rest = schema.additionalProperties;
  return [
    ...Object.entries(schema.properties ?? {}).flatMap(([name, child]) =>
      fieldProblems(child, `${path}.properties[${name}]`),
    ),
    ...(schema.items ? fieldProblems(schema.items, `${path}.items`) : []),
    ...(isMap(rest) ? fieldProblems(rest as Schema, `${path}.additionalProperties`) : []),
  ];
}

function isRegularExpression(pattern: string): boolean {
  try {
    new RegExp(pattern, "u");
    return true;
  } catch {
    return false;
  }
}

function defaultProblems(schema: Schema, path: string): FieldProblem[] {
  const holder = { type: "object", properties: { value: schema } };
  const { unknown } = shape({ value: schema.default }, holder);
  if (unknown.length > 0) return [invalidValue(path, schema.default, "must not have unknown fields")];
  return validate(schema.default, schema).map((problem) => ({
    ...problem,
    field: ["", "<nil>"].includes(problem.field) ? path : `${path}.${problem.field}`,
  }));
}

function listMapProblems(schema: Schema, path: string): FieldProblem[] {
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  if (keys.length === 0)
    return [required(`${path}.x-kubernetes-list-map-keys`, "must not be empty if x-kubernetes-list-type is map")];
  const { required: needed = [], properties = {} } = schema.items ?? {};
  const rule = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
  return keys
    .filter((key) => !needed.includes(key) && properties[key]?.default === undefined)
    .map((key) => required(`${path}.items.properties[${key}].default`, rule));
}
