import type { NodeName } from "../core/ids.ts";
import { leastOf } from "../core/many.ts";
import type { Departure } from "../core/world.ts";

/** A Node that registers again within this time must not cost a session. */
export const deletedGraceMs = 30_000;
/** Two complete lists so far apart must agree before an absence counts. */
export const absenceSpanMs = 60_000;
/** Afterwards the absence from two lists is proof again. */
const rememberMs = 600_000;

/** One moment of a cluster's watch. */
export interface Moment {
  /** Monotonic. */
  readonly nowMs: number;
  /** Counts up whenever the watch breaks: what happens in between is told only later. */
  readonly streamsEnded: number;
}

interface Leaving {
  readonly how: "deleted" | "absent";
  readonly at: Moment;
}

/** Remembers which nodes left the list, and what proves that they are gone. */
export class Departures {
  readonly #leaving = new Map<NodeName, Leaving>();
  #firstListMs: number | undefined;
  #lastListMs = Number.NEGATIVE_INFINITY;

  left(name: NodeName, how: "deleted" | "absent", at: Moment): void {
    this.#leaving.set(name, { how, at });
  }

  returned(name: NodeName): void {
    this.#leaving.delete(name);
  }

  listed(nowMs: number): void {
    this.#firstListMs ??= nowMs;
    this.#lastListMs = nowMs;
  }

  /** A node that was never listed since we connected is gone: two lists far enough apart say so. */
  get absenceProven(): boolean {
    return this.#firstListMs !== undefined && this.#lastListMs - this.#firstListMs >= absenceSpanMs;
  }

  /** Who left and when that may be proven; 0 is proven. What was proven long ago is forgotten. */
  current(now: Moment): Departure[] {
    for (const [name, leaving] of this.#leaving) {
      if (now.nowMs - leaving.at.nowMs > rememberMs && this.#isProven(leaving, now)) this.#leaving.delete(name);
    }
    return [...this.#leaving].map(([name, leaving]) => {
      const waitMs = proofDueMs(leaving) - now.nowMs;
      const afterMs = this.#isProven(leaving, now) ? 0 : Math.max(1000, waitMs);
      return { name, afterMs, needsList: needsList(leaving, now) };
    });
  }

  /** When a complete list would prove something, if one is needed at all. */
  listDueMs(now: Moment): number | undefined {
    const due = [...this.#leaving.values()]
      .filter((leaving) => needsList(leaving, now) && !this.#isProven(leaving, now))
      .map(proofDueMs);
    if (this.#firstListMs !== undefined && !this.absenceProven) due.push(this.#firstListMs + absenceSpanMs);
    return due.length > 0 ? leastOf(due) : undefined;
  }

  #isProven(leaving: Leaving, now: Moment): boolean {
    return needsList(leaving, now) ? this.#lastListMs >= proofDueMs(leaving) : now.nowMs >= proofDueMs(leaving);
  }
}

const proofDueMs = ({ how, at }: Leaving): number => at.nowMs + (how === "deleted" ? deletedGraceMs : absenceSpanMs);

/** A deletion that we were told of is proof by itself, as long as a return would have been told on the same stream. */
const needsList = ({ how, at }: Leaving, now: Moment): boolean =>
  how === "absent" || at.streamsEnded !== now.streamsEnded;
