import { availableParallelism } from "node:os";
import { table } from "../src/cli/table.ts";

export type Variant = "ours" | "client-node";

export interface Figure {
  readonly title: string;
  readonly unit: string;
  /** After the decimal point. */
  readonly digits: number;
}

/** What a figure should be: of ours alone, or of ours divided by client-node's. */
export interface Expectation {
  readonly figure: string;
  readonly of: "ours" | "ratio";
  readonly atLeast?: number;
  readonly atMost?: number;
}

type Measures = Readonly<Record<string, number>>;
type Runs = Readonly<Record<Variant, readonly Measures[]>>;

export interface Report {
  readonly title: string;
  readonly figures: Readonly<Record<string, Figure>>;
  readonly expectations: readonly Expectation[];
  /** The figures of every round. */
  readonly runs: Runs;
}

/** Measures both, one after the other, and the other way round in every second round. */
export async function inRounds(
  rounds: number,
  measure: (variant: Variant) => Promise<Measures>,
): Promise<Pick<Report, "runs">> {
  const runs: Record<Variant, Measures[]> = { ours: [], "client-node": [] };
  for (let round = 1; round <= rounds; round++) {
    const order: readonly Variant[] = round % 2 === 1 ? ["ours", "client-node"] : ["client-node", "ours"];
    for (const variant of order) {
      process.stderr.write(`round ${round} of ${rounds}: ${variant}\n`);
      runs[variant].push(await measure(variant));
    }
  }
  return { runs };
}

interface Outcome {
  readonly figure: string;
  readonly ours: number;
  readonly clientNode: number;
  readonly ratio: number;
}

/** The report for machines: medians, ratios of medians, and whether each expectation is met. */
export function reportJson(report: Report): string {
  const outcomes = outcomesOf(report);
  const expectations = report.expectations.map((expected) => ({ ...expected, met: isMet(expected, outcomes) }));
  const figures = Object.fromEntries(outcomes.map(({ figure, ...outcome }) => [figure, outcome]));
  const machine = { node: process.version, platform: process.platform, cores: availableParallelism() };
  return JSON.stringify({ title: report.title, machine, figures, expectations, runs: report.runs }, undefined, 2);
}

/** The report for people. */
export function reportText(report: Report): string {
  const outcomes = outcomesOf(report);
  const rows = outcomes.map((outcome) => rowOf(report, outcome, outcomes));
  const rounds = report.runs.ours.length;
  const head = `${report.title}; median of ${rounds} ${rounds === 1 ? "round" : "rounds"}`;
  return `${head}\n\n${table(["", "OURS", "CLIENT-NODE", "RATIO", "EXPECTED", ""], rows)}`;
}

function outcomesOf({ figures, runs }: Report): Outcome[] {
  return Object.keys(figures).map((figure) => {
    const ours = median(runs.ours.map((measures) => measures[figure] ?? Number.NaN));
    const clientNode = median(runs["client-node"].map((measures) => measures[figure] ?? Number.NaN));
    return { figure, ours, clientNode, ratio: ours / clientNode };
  });
}

function rowOf(report: Report, { figure, ours, clientNode, ratio }: Outcome, outcomes: readonly Outcome[]): string[] {
  const { title, unit, digits } = report.figures[figure] ?? { title: figure, unit: "", digits: 2 };
  const expected = report.expectations.filter((expectation) => expectation.figure === figure);
  return [
    title,
    `${ours.toFixed(digits)} ${unit}`,
    `${clientNode.toFixed(digits)} ${unit}`,
    `${ratio.toFixed(2)}x`,
    expected.map((expectation) => wordsOf(expectation, unit)).join(", "),
    expected.length === 0 ? "" : expected.every((expectation) => isMet(expectation, outcomes)) ? "ok" : "MISSED",
  ];
}

function wordsOf({ of, atLeast, atMost }: Expectation, unit: string): string {
  const [sign, limit] = atLeast === undefined ? ["<=", atMost] : [">=", atLeast];
  return of === "ratio" ? `${sign} ${limit}x` : `${sign} ${limit} ${unit}`;
}

function isMet({ figure, of, atLeast, atMost }: Expectation, outcomes: readonly Outcome[]): boolean {
  const value = outcomes.find((outcome) => outcome.figure === figure)?.[of] ?? Number.NaN;
  return value >= (atLeast ?? Number.NEGATIVE_INFINITY) && value <= (atMost ?? Number.POSITIVE_INFINITY);
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const high = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? high : ((sorted[middle - 1] ?? Number.NaN) + high) / 2;
}
