import { cutText } from "./cut-text.ts";
import { mostExamples } from "./verdict.ts";

/** How often something is so in a cluster, with a few examples. */
export interface ReasonRow<Reason extends string> {
  readonly reason: Reason;
  readonly count: number;
  readonly examples: readonly string[];
}

export interface Case<Reason extends string> {
  readonly reason: Reason;
  readonly subject: string;
}

/** No name of a node is longer. */
const longestExample = 253;

/** One row per reason, by reason; a subject counts once, and the examples are the first by name. */
export function reasonRows<Reason extends string>(cases: readonly Case<Reason>[]): ReasonRow<Reason>[] {
  const subjects = new Map<Reason, Set<string>>();
  for (const { reason, subject } of cases) subjects.set(reason, (subjects.get(reason) ?? new Set()).add(subject));
  return [...subjects]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([reason, all]) => {
      const examples = [...all].sort().slice(0, mostExamples);
      return { reason, count: all.size, examples: examples.map((text) => cutText(text, longestExample)) };
    });
}
