import { availableParallelism } from "node:os";
import { table } from "../src/cli/table.ts";

export interface MeshFigure {
  readonly figure: string;
  readonly title: string;
  readonly unit: string;
  /** After the decimal point. */
  readonly digits: number;
  readonly value: number;
  readonly atMost?: number;
}

export interface MeshSection {
  readonly title: string;
  /** Of the machine in the minute before. */
  readonly loadBefore: number;
  readonly figures: readonly MeshFigure[];
}

/** The report for people. */
export function meshText(sections: readonly MeshSection[]): string {
  const textOf = ({ title, loadBefore, figures }: MeshSection): string =>
    `${title}; load average before: ${loadBefore.toFixed(1)}\n\n${table(["", "MEASURED", "EXPECTED", ""], figures.map(rowOf))}`;
  return sections.map(textOf).join("\n\n");
}

/** The report for machines. */
export function meshJson(sections: readonly MeshSection[]): string {
  const machine = { node: process.version, platform: process.platform, cores: availableParallelism() };
  const told = sections.map(({ figures, ...section }) => ({
    ...section,
    figures: Object.fromEntries(figures.map(({ figure, ...rest }) => [figure, { ...rest, met: isMet(rest) }])),
  }));
  return JSON.stringify({ machine, sections: told }, undefined, 2);
}

function rowOf(figure: MeshFigure): string[] {
  const { title, unit, digits, value, atMost } = figure;
  const met = isMet(figure);
  return [
    title,
    `${value.toFixed(digits)} ${unit}`.trim(),
    atMost === undefined ? "" : `<= ${atMost} ${unit}`.trim(),
    met === undefined ? "" : met ? "ok" : "MISSED",
  ];
}

function isMet({ value, atMost }: Omit<MeshFigure, "figure">): boolean | undefined {
  return atMost === undefined ? undefined : value <= atMost;
}
