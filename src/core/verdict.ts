import type { ConditionNow } from "./conditions.ts";
import { cutText } from "./cut-text.ts";

/** What a condition says. */
export type Verdict = Pick<ConditionNow, "status" | "reason" | "message">;

export const mostExamples = 5;
const longestDetail = 160;

/** A few of the details, and how many more there are. Whatever it is given, it stays short. */
export function verdict(status: Verdict["status"], reason: string, details: readonly string[]): Verdict {
  const shown = details.slice(0, mostExamples).map((text) => cutText(text, longestDetail));
  const more = details.length > mostExamples ? [`and ${details.length - mostExamples} more`] : [];
  return { status, reason, message: [...shown, ...more].join("; ") };
}

/** The same, with what to do next. */
export function withHint(said: Verdict, hint: string): Verdict {
  return { ...said, message: [said.message, hint].filter(Boolean).join(". ") };
}
