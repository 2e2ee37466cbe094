import { isIPv4, isIPv6 } from "node:net";
import { sameJson } from "../api/same-json.ts";
import { duplicate, type FieldProblem, invalidValue, notSupported, required } from "./field-problem.ts";
import { isMap, type JsonMap } from "./json.ts";
import type { Schema } from "./schema.ts";

/** Everything that is wrong with a value, in the words of the API. `path` is empty for the object itself. */
export function validate(value: unknown, schema: Schema, path = ""): FieldProblem[] {
  if (value === null && schema.nullable) return [];
  const typeProblem = checkType(value, schema, path);
  if (typeProblem) return [typeProblem];
  return [
    ...checkString(value, schema, path),
    ...checkNumber(value, schema, path),
    ...checkEnum(value, schema, path),
    ...checkList(value, schema, path),
    ...checkMap(value, schema, path),
    ...checkCombinations(value, schema, path),
  ];
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

function checkType(value: unknown, schema: Schema, path: string): FieldProblem | undefined {
  const actual = typeOf(value);
  if (schema["x-kubernetes-int-or-string"]) {
    if (actual === "integer" || actual === "string") return undefined;
    return wrongType(path, actual, "integer,string");
  }
  if (!schema.type || schema.type === actual) return undefined;
  if (schema.type === "number" && actual === "integer") return undefined;
  return wrongType(path, actual, schema.type);
}

function wrongType(path: string, actual: string, expected: string): FieldProblem {
  const detail = `${path} in body must be of type ${expected}: ${JSON.stringify(actual)}`;
  return { type: "FieldValueTypeInvalid", field: fieldName(path), value: actual, detail };
}

function fieldName(path: string): string {
  return path === "" ? "<nil>" : path;
}

const bad = (path: string, value: unknown, rule: string): FieldProblem =>
  invalidValue(fieldName(path), value, `${path} in body ${rule}`);

function checkString(value: unknown, schema: Schema, path: string): FieldProblem[] {
  if (typeof value !== "string") return [];
  const { minLength, maxLength, pattern, format } = schema;
  const length = [...value].length;
  if (maxLength !== undefined && length > maxLength) return [tooLong(path, maxLength)];
  if (minLength !== undefined && length < minLength) {
    return [bad(path, value, `should be at least ${minLength} chars long`)];
  }
  if (pattern !== undefined && !new RegExp(pattern).test(value)) {
    return [bad(path, value, `should match '${pattern}'`)];
  }
  if (format !== undefined && formats[format]?.(value) === false) {
    return [bad(path, value, `must be of type ${format}: ${JSON.stringify(value)}`)];
  }
  return [];
}

function tooLong(path: string, max: number): FieldProblem {
  const detail = `may not be more than ${max} ${max === 1 ? "byte" : "bytes"}`;
  return { type: "FieldValueTooLong", field: fieldName(path), detail };
}

const formats: Readonly<Record<string, (value: string) => boolean>> = {
  "date-time": (value) => /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d/.test(value) && !Number.isNaN(Date.parse(value)),
  date: (value) => /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value)),
  ipv4: isIPv4,
  ipv6: isIPv6,
  byte: (value) => /^[A-Za-z0-9+/]*={0,2}$/.test(value) && value.length % 4 === 0,
};

function checkNumber(value: unknown, schema: Schema, path: string): FieldProblem[] {
  if (typeof value !== "number") return [];
  const { minimum, maximum, multipleOf } = schema;
  const overMaximum = maximum !== undefined && (schema.exclusiveMaximum ? value >= maximum : value > maximum);
  const underMinimum = minimum !== undefined && (schema.exclusiveMinimum ? value <= minimum : value < minimum);
  const uneven = multipleOf !== undefined && !Number.isInteger(value / multipleOf);
  return [
    ...(overMaximum ? [bad(path, value, `should be less than ${orEqual(schema.exclusiveMaximum)}${maximum}`)] : []),
    ...(underMinimum ? [bad(path, value, `should be greater than ${orEqual(schema.exclusiveMinimum)}${minimum}`)] : []),
    ...(uneven ? [bad(path, value, `should be a multiple of ${multipleOf}`)] : []),
  ];
}

function orEqual(exclusive: boolean | undefined): string {
  return exclusive ? "" : "or equal to ";
}

function checkEnum(value: unknown, schema: Schema, path: string): FieldProblem[] {
  if (!schema.enum || schema.enum.some((allowed) => sameJson(allowed, value))) return [];
  const supported = schema.enum.map((allowed) => (typeof allowed === "string" ? allowed : JSON.stringify(allowed)));
  return [notSupported(fieldName(path), value, supported)];
}

function checkList(value: unknown, schema: Schema, path: string): FieldProblem[] {
  if (!Array.isArray(value)) return [];
  const { minItems, maxItems, items } = schema;
  const problems: FieldProblem[] = [];
  if (maxItems !== undefined && value.length > maxItems) problems.push(tooMany(path, value.length, maxItems));
  if (minItems !== undefined && value.length < minItems) {
    problems.push(bad(path, value.length, `should have at least ${minItems} items`));
  }
  if (items) problems.push(...value.flatMap((item, index) => validate(item, items, `${path}[${index}]`)));
  return [...problems, ...checkUniqueness(value, schema, path)];
}

function tooMany(path: string, actual: number, max: number): FieldProblem {
  const detail = `must have at most ${max} ${max === 1 ? "item" : "items"}`;
  return { type: "FieldValueTooMany", field: fieldName(path), value: actual, detail };
}

function checkUniqueness(list: readonly unknown[], schema: Schema, path: string): FieldProblem[] {
  const kind = schema["x-kubernetes-list-type"];
  if (kind !== "set" && kind !== "map") {
    const repeated = schema.uniqueItems && list.some((item, index) => firstLike(list, item) < index);
    return repeated ? [bad(path, "", "shouldn't contain duplicates")] : [];
  }
  const stray = kind === "map" ? list.findIndex((item) => !isMap(item)) : -1;
  if (stray >= 0) {
    return [invalidValue(`${path}[${stray}]`, list[stray], "must be an object for an array of list-type map")];
  }
  const keys = list.map((item) => (kind === "set" ? item : keyFieldsOf(item, schema)));
  return keys.flatMap((key, index) => (firstLike(keys, key) < index ? [duplicate(`${path}[${index}]`, key)] : []));
}

function firstLike(list: readonly unknown[], item: unknown): number {
  return list.findIndex((other) => sameJson(other, item));
}

function keyFieldsOf(item: unknown, schema: Schema): unknown {
  if (!isMap(item)) return item;
  const names = schema["x-kubernetes-list-map-keys"] ?? [];
  const entries = names.map((name) => [name, item[name] ?? schema.items?.properties?.[name]?.default] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function checkMap(value: unknown, schema: Schema, path: string): FieldProblem[] {
  if (!isMap(value)) return [];
  const count = Object.keys(value).length;
  const { minProperties, maxProperties } = schema;
  const problems = (schema.required ?? [])
    .filter((name) => !Object.hasOwn(value, name))
    .map((name) => required(join(path, name)));
  if (maxProperties !== undefined && count > maxProperties) problems.push(tooMany(path, count, maxProperties));
  if (minProperties !== undefined && count < minProperties) {
    problems.push(bad(path, count, `should have at least ${minProperties} properties`));
  }
  return [...problems, ...checkFields(value, schema, path)];
}

function checkFields(value: JsonMap, schema: Schema, path: string): FieldProblem[] {
  const { properties = {}, additionalProperties } = schema;
  return Object.entries(value).flatMap(([name, child]) => {
    const known = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    return typeof known === "object" ? validate(child, known, join(path, name)) : [];
  });
}

function join(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

function checkCombinations(value: unknown, schema: Schema, path: string): FieldProblem[] {
  const matches = (option: Schema): boolean => validate(value, option, path).length === 0;
  const refuse = (rule: string): FieldProblem =>
    invalidValue(fieldName(path), value, `${JSON.stringify(path)} ${rule}`);
  const problems = (schema.allOf ?? []).flatMap((option) => validate(value, option, path));
  if (schema.anyOf && !schema.anyOf.some(matches)) problems.push(refuse("must validate at least one schema (anyOf)"));
  if (schema.oneOf && schema.oneOf.filter(matches).length !== 1) {
    problems.push(refuse("must validate one and only one schema (oneOf)"));
  }
  if (schema.not && matches(schema.not)) problems.push(refuse("must not validate the schema (not)"));
  return problems;
}
