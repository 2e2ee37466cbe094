import { availableParallelism } from "node:os";
import { table } from "../src/cli/table.ts";

/** A figure of the operator, and beside it what the bare loop needed for the same work. */
export interface OperatorFigure {
  readonly figure: string;
  readonly title: string;
  readonly unit: string;
  /** After the decimal point. */
  readonly digits: number;
  readonly ours: number;
  readonly floor?: number;
  /** Of the two in each round, where rounds are minutes apart: the machine is faster in one than in the next. */
  readonly ratio?: number;
  readonly expected?: { readonly of: "ours" | "ratio"; readonly atMost: number };
  /** What the Go operator was measured at on the same work, in another run. */
  readonly go?: string;
}

export interface OperatorSection {
  readonly title: string;
  /** Of the machine in the minute before. */
  readonly loadBefore: number;
  readonly figures: readonly OperatorFigure[];
}

const headings = ["", "OURS", "FLOOR", "RATIO", "EXPECTED", "", "GO OPERATOR"];

/** The report for people. */
export function operatorText(sections: readonly OperatorSection[]): string {
  const textOf = ({ title, loadBefore, figures }: OperatorSection): string =>
    `${title}; load average before: ${loadBefore.toFixed(1)}\n\n${table(headings, figures.map(rowOf))}`;
  return sections.map(textOf).join("\n\n");
}

/** The report for machines. */
export function operatorJson(sections: readonly OperatorSection[]): string {
  const machine = { node: process.version, platform: process.platform, cores: availableParallelism() };
  const told = sections.map(({ title, loadBefore, figures }) => ({
    title,
    loadBefore,
    figures: Object.fromEntries(
      figures.map(({ figure, ...rest }) => [figure, { ...rest, ratio: ratioOf(rest), met: isMet(rest) }]),
    ),
  }));
  return JSON.stringify({ machine, sections: told }, undefined, 2);
}

type Measured = Omit<OperatorFigure, "figure">;

function rowOf(figure: OperatorFigure): string[] {
  const { title, unit, digits, ours, floor, expected, go = "" } = figure;
  const amount = (value: number | undefined): string =>
    value === undefined ? "" : `${value.toFixed(digits)} ${unit}`.trim();
  const ratio = ratioOf(figure);
  const met = isMet(figure);
  const limit = expected?.of === "ratio" ? `<= ${expected.atMost}x` : `<= ${amount(expected?.atMost)}`;
  return [
    title,
    amount(ours),
    amount(floor),
    ratio === undefined ? "" : `${ratio.toFixed(2)}x`,
    expected ? limit : "",
    met === undefined ? "" : met ? "ok" : "MISSED",
    go,
  ];
}

function ratioOf({ ours, floor, ratio }: Measured): number | undefined {
  return floor === undefined ? undefined : (ratio ?? ours / floor);
}

function isMet(figure: Measured): boolean | undefined {
  if (!figure.expected) return undefined;
  const value = figure.expected.of === "ratio" ? ratioOf(figure) : figure.ours;
  return value !== undefined && value <= figure.expected.atMost;
}
