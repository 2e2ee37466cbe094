import { mapOf } from "./json.ts";
import type { ServedResource } from "./served-resource.ts";
import { badRequest } from "./status.ts";
import type { WireObject } from "./wire-object.ts";

export interface SelectorOptions {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

export type Selects = (stored: WireObject) => boolean;

/** What a list or a watch asks for. Throws `BadRequest` for a selector that cannot be read. */
export function selectorOf(served: ServedResource, options: SelectorOptions): Selects {
  const { namespace, labelSelector, fieldSelector } = options;
  const tests: Selects[] = [];
  if (namespace) tests.push((object) => object.metadata.namespace === namespace);
  if (labelSelector) tests.push(...parseLabelSelector(labelSelector).map(onLabels));
  if (fieldSelector) tests.push(...parseFieldSelector(served, fieldSelector));
  if (tests.length === 0) return () => true;
  return (object) => tests.every((test) => test(object));
}

type Labels = Readonly<Record<string, string>>;

function onLabels(test: (labels: Labels) => boolean): Selects {
  return (object) => test(object.metadata.labels ?? {});
}

function parseLabelSelector(text: string): ((labels: Labels) => boolean)[] {
  return splitOutsideParentheses(text).map((part) => {
    const requirement = requirements.map((parse) => parse(part)).find((found) => found !== undefined);
    if (!requirement) throw badRequest(`unable to parse requirement: ${JSON.stringify(part)}`);
    return requirement;
  });
}

function splitOutsideParentheses(text: string): readonly string[] {
  return text
    .split(/,(?![^(]*\))/)
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

const key = "[A-Za-z0-9][A-Za-z0-9._/-]*";

const requirements: readonly ((part: string) => ((labels: Labels) => boolean) | undefined)[] = [
  (part) => {
    const [, name, operator, list] = new RegExp(`^(${key})\\s+(in|notin)\\s*\\((.*)\\)$`).exec(part) ?? [];
    if (name === undefined || list === undefined) return undefined;
    const values = list.split(",").map((value) => value.trim());
    if (operator === "in") return (labels) => values.includes(labels[name] ?? "") && Object.hasOwn(labels, name);
    return (labels) => !Object.hasOwn(labels, name) || !values.includes(labels[name] ?? "");
  },
  (part) => {
    const [, name, operator, value] = new RegExp(`^(${key})\\s*(!=|==|=)\\s*([A-Za-z0-9._-]*)$`).exec(part) ?? [];
    if (name === undefined) return undefined;
    if (operator === "!=") return (labels) => labels[name] !== value;
    return (labels) => labels[name] === value;
  },
  (part) => {
    const [, name, operator, bound] = new RegExp(`^(${key})\\s*([<>])\\s*(-?\\d+)$`).exec(part) ?? [];
    if (name === undefined) return undefined;
    const sign = operator === ">" ? 1 : -1;
    return (labels) => Object.hasOwn(labels, name) && sign * (Number(labels[name]) - Number(bound)) > 0;
  },
  (part) => {
    const [, absent, name] = new RegExp(`^(!?)\\s*(${key})$`).exec(part) ?? [];
    if (name === undefined) return undefined;
    return (labels) => Object.hasOwn(labels, name) === (absent === "");
  },
];

function parseFieldSelector(served: ServedResource, text: string): Selects[] {
  const supported = ["metadata.name", ...(served.namespaced ? ["metadata.namespace"] : []), ...served.selectableFields];
  return text
    .split(",")
    .filter((part) => part !== "")
    .map((part) => {
      const [, field, operator, value] = /^([^=!]+)(!=|==|=)(.*)$/.exec(part) ?? [];
      if (field === undefined) {
        throw badRequest(`invalid selector: '${part}'; can't understand '${part}'`);
      }
      if (!supported.includes(field)) throw badRequest(`field label not supported: ${field}`);
      const path = field.split(".");
      const wanted = operator !== "!=";
      return (object) => (fieldText(served.toWire?.(object) ?? object, path) === value) === wanted;
    });
}

function fieldText(object: WireObject, path: readonly string[]): string {
  const found = path.reduce<unknown>((value, name) => mapOf(value)[name], object);
  if (found === undefined && path.at(-1) === "unschedulable") return "false";
  if (typeof found === "object" && found !== null) return String(mapOf(found).component ?? "");
  return String(found ?? "");
}
