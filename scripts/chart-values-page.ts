// Writes the reference pages of the charts' values from values.yaml and its comments. A test fails while they are not up
// to date.
import { readFileSync, writeFileSync } from "node:fs";
import { isMap, isScalar, type Pair, parseDocument, type YAMLMap } from "yaml";

/** A chart, the page of its values, and how that begins. */
export interface ValuesPage {
  readonly valuesFile: string;
  readonly pageFile: string;
  readonly opening: readonly string[];
}

export const valuesFile = "charts/kilo-clustermesh-operator/values.yaml";
export const valuesPageFile = "docs/reference/chart-values.md";

export const operatorValues: ValuesPage = {
  valuesFile,
  pageFile: valuesPageFile,
  opening: [
    "# Values of the chart",
    "",
    "`charts/kilo-clustermesh-operator`. Made from the comments of its `values.yaml`: edit those instead. A value that is",
    "not in this table is refused. What the Go operator's chart has too means the same here.",
  ],
};

export const meshNodeValues: ValuesPage = {
  valuesFile: "charts/mesh-node/values.yaml",
  pageFile: "docs/reference/mesh-node-values.md",
  opening: [
    "# Values of mesh-node's chart",
    "",
    "`charts/mesh-node`. Made from the comments of its `values.yaml`: edit those instead. A value that is not in this table",
    "is refused. How to use it: [mesh nodes in Kubernetes](../guides/mesh-node-in-kubernetes.md).",
  ],
};

/** One value of the chart: its path, its default as JSON, and what values.yaml says of it. */
export interface ChartValue {
  readonly path: string;
  readonly standard: string;
  readonly text: string;
}

export function chartValuesPage({ valuesFile: file, opening }: ValuesPage = operatorValues): string {
  const rows = chartValues(readFileSync(file, "utf8")).map(
    ({ path, standard, text }) => `| \`${path}\` | \`${standard}\` | ${text.replaceAll("|", "\\|")} |`,
  );
  return [...opening, "", "| value | default | |", "|---|---|---|", ...rows, ""].join("\n");
}

/** Writes the pages of both charts. */
export function writeValuesPages(): void {
  for (const page of [operatorValues, meshNodeValues]) writeFileSync(page.pageFile, chartValuesPage(page));
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

if (import.meta.main) writeValuesPages();
