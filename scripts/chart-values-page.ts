// Writes the reference page of the chart's values from values.yaml and its comments. A test fails while it is not up to
// date.
import { readFileSync, writeFileSync } from "node:fs";
import { isMap, isScalar, type Pair, parseDocument, type YAMLMap } from "yaml";

export const valuesFile = "charts/kilo-clustermesh-operator/values.yaml";
export const valuesPageFile = "docs/reference/chart-values.md";

/** One value of the chart: its path, its default as JSON, and what values.yaml says of it. */
export interface ChartValue {
  readonly path: string;
  readonly standard: string;
  readonly text: string;
}

export function chartValuesPage(values = readFileSync(valuesFile, "utf8")): string {
  const rows = chartValues(values).map(({ path, standard, text }) => `| \`${path}\` | \`${standard}\` | ${text} |`);
  return [
    "# Values of the chart",
    "",
    "`charts/kilo-clustermesh-operator`. Made from the comments of its `values.yaml`: edit those instead. A value that is",
    "not in this table is refused. What the Go operator's chart has too means the same here.",
    "",
    "| value | default | |",
    "|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}

/** Every value that has a comment of its own; a group (`image`) has none, its members do. */
export function chartValues(values: string): ChartValue[] {
  const root = parseDocument(values).contents;
  if (!isMap(root)) throw new Error("the values are no map");
  return membersOf(root, []);
}

function membersOf(map: YAMLMap, path: readonly string[]): ChartValue[] {
  return map.items.flatMap((pair, index) => valuesOf(pair, path, index === 0 ? map.commentBefore : undefined));
}

function valuesOf(pair: Pair, above: readonly string[], comment: string | null | undefined): ChartValue[] {
  const { key, value } = pair;
  if (!isScalar(key)) throw new Error("a key of the values is no text");
  const path = [...above, String(key.value)];
  const text = lastParagraph(key.commentBefore ?? comment ?? "");
  if (text === "" && isMap(value) && value.items.length > 0) return membersOf(value, path);
  const standard = JSON.stringify((value as { toJSON(): unknown }).toJSON());
  return [{ path: path.join("."), standard, text }];
}

function lastParagraph(comment: string): string {
  const paragraph =
    comment
      .trimEnd()
      .split(/\n\s*\n/)
      .at(-1) ?? "";
  return paragraph
    .split("\n")
    .map((line) => line.trim())
    .join(" ")
    .trim();
}

if (import.meta.main) writeFileSync(valuesPageFile, chartValuesPage());
