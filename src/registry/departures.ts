import type { NodeName } from "../core/ids.ts";
import type { Departure } from "../core/world.ts";

/** A Node that registers again within this time must not cost a session. */
export const deletedGraceMs = 30_000;
/** Two complete lists so far apart must agree before an absence counts. */
export const absenceSpanMs = 60_000;
/** Afterwards the absence from two lists is proof again. */
const rememberMs = 600_000;

interface Leaving {
  readonly how: "deleted" | "absent";
  readonly sinceMs: number;
}

/** Remembers which nodes left the list, and what proves that they are gone. Times are monotonic milliseconds. */
export class Departures {
  readonly #leaving = new Map<NodeName, Leaving>();
  #firstListMs: number | undefined;
  #lastListMs: number | undefined;

  left(name: NodeName, how: "deleted" | "absent", nowMs: number): void {
    this.#leaving.set(name, { how, sinceMs: nowMs });
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
    if (this.#firstListMs === undefined || this.#lastListMs === undefined) return false;
    return this.#lastListMs - this.#firstListMs >= absenceSpanMs;
  }

  /** Who left and when that is proven; 0 is proven. What was proven long ago is forgotten. */
  current(nowMs: number): Departure[] {
    for (const [name, leaving] of this.#leaving) {
      if (nowMs - leaving.sinceMs > rememberMs && this.#afterMs(leaving, nowMs) === 0) this.#leaving.delete(name);
    }
    return [...this.#leaving].map(([name, leaving]) => ({ name, afterMs: this.#afterMs(leaving, nowMs) }));
  }

  /** When the next complete list could prove something, if one is needed at all. */
  listDueMs(): number | undefined {
    const lastMs = this.#lastListMs ?? 0;
    const due = [...this.#leaving.values()]
      .filter(({ how, sinceMs }) => how === "absent" && lastMs - sinceMs < absenceSpanMs)
      .map(({ sinceMs }) => sinceMs + absenceSpanMs);
    return due.length > 0 ? Math.min(...due) : undefined;
  }

  /** When a second list would prove the absence of nodes that were never listed. */
  absenceDueMs(): number | undefined {
    return this.#firstListMs === undefined || this.absenceProven ? undefined : this.#firstListMs + absenceSpanMs;
  }

  #afterMs({ how, sinceMs }: Leaving, nowMs: number): number {
    if (how === "deleted") return Math.max(0, sinceMs + deletedGraceMs - nowMs);
    const isProven = this.#lastListMs !== undefined && this.#lastListMs - sinceMs >= absenceSpanMs;
    return isProven ? 0 : Math.max(1000, sinceMs + absenceSpanMs - nowMs);
  }
}
