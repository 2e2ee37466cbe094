import { sameJson } from "../api/same-json.ts";
import { type FieldProblem, forbiddenField, invalidValue, required } from "./field-problem.ts";

import type { WireMeta } from "./wire-object.ts";

/** How the API checks the name of a kind of object. */
export type NameRule = "subdomain" | "label" | "dns-1035-label" | "path-segment";

const label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const subdomain = `${label}(\\.${label})*`;
const qualifiedTail = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const annotationBytes = 256 * 1024;

export function validateMeta(meta: WireMeta, rule: NameRule): FieldProblem[] {
  const name = meta.name
    ? nameProblems(meta.name, rule).map((detail) => invalidValue("metadata.name", meta.name, detail))
    : [required("metadata.name", "name or generateName is required")];
  return [...name, ...commonProblems(meta, {})];
}

export function validateMetaChange(next: WireMeta, previous: WireMeta): FieldProblem[] {
  const added = (next.finalizers ?? []).filter((finalizer) => !previous.finalizers?.includes(finalizer));
  const problems = commonProblems(next, previous);
  if (previous.deletionTimestamp && added.length > 0) {
    const found = added.map((finalizer) => JSON.stringify(finalizer)).join(", ");
    const why = "no new finalizers can be added if the object is being deleted, found new finalizers";
    problems.push(forbiddenField("metadata.finalizers", `${why} []string{${found}}`));
  }
  for (const field of ["name", "namespace", "uid", "deletionTimestamp"] as const) {
    if (sameJson(next[field], previous[field])) continue;
    problems.push(invalidValue(`metadata.${field}`, next[field] ?? "", "field is immutable"));
  }
  return problems;
}

/** What was there before was valid then: only what is new is looked at. */
function commonProblems(meta: WireMeta, previous: Partial<WireMeta>): FieldProblem[] {
  const labels = Object.entries(meta.labels ?? {}).filter(([key, value]) => previous.labels?.[key] !== value);
  const finalizers = (meta.finalizers ?? []).filter((finalizer) => !previous.finalizers?.includes(finalizer));
  return [
    ...labels.flatMap(labelProblems),
    ...annotationProblems(meta.annotations ?? {}, previous.annotations ?? {}),
    ...finalizers.flatMap((finalizer) => keyProblems("metadata.finalizers", finalizer)),
  ];
}

export function nameProblems(name: string, rule: NameRule): string[] {
  switch (rule) {
    case "label":
      return [...tooLong(name, 63, "characters"), ...mismatch(name, labelRule)];
    case "dns-1035-label":
      return [...tooLong(name, 63, "characters"), ...mismatch(name, dns1035Rule)];
    case "subdomain":
      return [...tooLong(name, 253, "characters"), ...mismatch(name, subdomainRule)];
    case "path-segment":
      return name === "." || name === ".." || /[/%]/.test(name) ? [`may not be '.' or '..' or contain '/' or '%'`] : [];
  }
}

interface TextRule {
  readonly pattern: string;
  readonly regexp: RegExp;
  readonly text: string;
}

function textRule(pattern: string, text: string, ...examples: readonly string[]): TextRule {
  const shown = examples.map((example) => `'${example}', `).join(" or ");
  const regexp = new RegExp(`^(?:${pattern})$`);
  return { pattern, regexp, text: `${text} (e.g. ${shown}regex used for validation is '${pattern}')` };
}

const ends = "must start and end with an alphanumeric character";
const labelRule = textRule(
  label,
  `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and ${ends}`,
  "my-name",
  "123-abc",
);
const dns1035Rule = textRule(
  "[a-z]([-a-z0-9]*[a-z0-9])?",
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  "my-name",
  "abc-123",
);
const subdomainRule = textRule(
  subdomain,
  `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and ${ends}`,
  "example.com",
);
const keyRule = textRule(
  qualifiedTail,
  `must consist of alphanumeric characters, '-', '_' or '.', and ${ends}`,
  "MyName",
  "my.name",
  "123-abc",
);
const valueRule = textRule(
  `(${qualifiedTail})?`,
  `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and ${ends}`,
  "MyValue",
  "my_value",
  "12345",
);

function tooLong(value: string, max: number, unit: "bytes" | "characters"): string[] {
  return Buffer.byteLength(value) > max ? [`must be no more than ${max} ${unit}`] : [];
}

function mismatch(value: string, rule: TextRule): string[] {
  return rule.regexp.test(value) ? [] : [rule.text];
}

/** What keeps a text from being a qualified name, such as the key of a label. */
export function keyProblems(field: string, key: string): FieldProblem[] {
  const [tail = "", prefix, ...rest] = key.split("/").reverse();
  const problems = [...tooLong(tail, 63, "bytes"), ...mismatch(tail, keyRule)].map((text) => `name part ${text}`);
  if (prefix !== undefined) problems.push(...nameProblems(prefix, "subdomain").map((text) => `prefix part ${text}`));
  if (rest.length > 0) {
    const form = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
    return [invalidValue(field, key, `a valid label key ${keyRule.text} ${form}`)];
  }
  return problems.map((detail) => invalidValue(field, key, detail));
}

function labelProblems([key, value]: readonly [string, string]): FieldProblem[] {
  const problems = [...tooLong(value, 63, "bytes"), ...mismatch(value, valueRule)];
  return [
    ...keyProblems("metadata.labels", key),
    ...problems.map((detail) => invalidValue("metadata.labels", value, detail)),
  ];
}

type Texts = Readonly<Record<string, string>>;

function annotationProblems(annotations: Texts, previous: Texts): FieldProblem[] {
  const entries = Object.entries(annotations);
  const added = entries.filter(([key]) => !Object.hasOwn(previous, key));
  const bytes = entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  const problems = added.flatMap(([key]) =>
    keyProblems("metadata.annotations", key.toLowerCase()).map((problem) => ({ ...problem, value: key })),
  );
  if (bytes <= annotationBytes) return problems;
  const detail = `may not be more than ${annotationBytes} bytes`;
  return [...problems, { type: "FieldValueTooLong", field: "metadata.annotations", detail }];
}
