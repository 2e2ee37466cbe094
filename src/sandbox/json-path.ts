import { isMap, listOf } from "./json.ts";

type Step =
  | { readonly kind: "field"; readonly name: string }
  | { readonly kind: "index"; readonly index: number }
  | { readonly kind: "all" }
  | { readonly kind: "filter"; readonly path: JsonPath; readonly operator: string; readonly literal: string };

export type JsonPath = readonly Step[];

/** Parses the JSONPath subset of printer columns: fields, indexes, `[*]` and `[?(@.a=="b")]`. */
export function parseJsonPath(text: string): JsonPath {
  const steps: Step[] = [];
  let rest = text
    .trim()
    .replace(/^\{(.*)\}$/s, "$1")
    .replace(/^\$/, "");
  if (rest !== "" && !/^[.[]/.test(rest)) rest = `.${rest}`;
  while (rest !== "" && rest !== ".") {
    const matched = parsers.map((parse) => parse(rest)).find((found) => found !== undefined);
    if (!matched) throw new Error(`cannot read the JSONPath ${JSON.stringify(text)}`);
    steps.push(matched.step);
    rest = rest.slice(matched.length);
  }
  return steps;
}

export function isJsonPath(text: string): boolean {
  try {
    parseJsonPath(text);
    return true;
  } catch {
    return false;
  }
}

interface Matched {
  readonly step: Step;
  readonly length: number;
}

const parsers: readonly ((text: string) => Matched | undefined)[] = [
  (text) => {
    const match = /^\.((?:[^.[\]\\]|\\.)+)/.exec(text);
    const name = match?.[1]?.replace(/\\(.)/g, "$1");
    if (!match || name === undefined) return undefined;
    return { step: name === "*" ? { kind: "all" } : { kind: "field", name }, length: match[0].length };
  },
  (text) => {
    const match = /^\.?\[(-?\d+)\]/.exec(text);
    return match ? { step: { kind: "index", index: Number(match[1]) }, length: match[0].length } : undefined;
  },
  (text) => {
    const match = /^\.?\[\*\]/.exec(text);
    return match ? { step: { kind: "all" }, length: match[0].length } : undefined;
  },
  (text) => {
    const match = /^\.?\[\s*(['"])(.*?)\1\s*\]/.exec(text);
    return match ? { step: { kind: "field", name: match[2] ?? "" }, length: match[0].length } : undefined;
  },
  (text) => {
    const match = /^\.?\[\?\(\s*@((?:\.[^=!<>\s]+)?)\s*(==|!=)\s*(['"]?)(.*?)\3\s*\)\]/.exec(text);
    if (!match) return undefined;
    const [whole, path = "", operator = "==", , literal = ""] = match;
    return { step: { kind: "filter", path: parseJsonPath(path), operator, literal }, length: whole.length };
  },
];

/** Every value the path leads to. */
export function valuesAt(path: JsonPath, value: unknown): readonly unknown[] {
  return path.reduce<readonly unknown[]>((found, step) => found.flatMap((item) => follow(step, item)), [value]);
}

function follow(step: Step, value: unknown): readonly unknown[] {
  switch (step.kind) {
    case "field":
      return isMap(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : [];
    case "index":
      return listOf(value).slice(step.index).slice(0, 1);
    case "all":
      return isMap(value) ? Object.values(value) : listOf(value);
    case "filter":
      return (isMap(value) ? Object.values(value) : listOf(value)).filter((item) => passes(step, item));
  }
}

function passes({ path, operator, literal }: Extract<Step, { kind: "filter" }>, item: unknown): boolean {
  const [found] = valuesAt(path, item);
  if (found === undefined) return false;
  return (String(found) === literal) === (operator === "==");
}
