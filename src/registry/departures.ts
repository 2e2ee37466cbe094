import type { NodeName } from "../core/ids.ts";
import type { Departure } from "../core/world.ts";

/** A Node that registers again within this time must not cost a session. */
export const deletedGraceMs = 30_000;
/** Two complete lists so far apart must agree before an absence counts. */
export const absenceSpanMs = 60_000;

interface Leaving {
  readonly how: "deleted" | "absent";
  readonly sinceMs: number;
}

/** Remembers which nodes left the list, until it is proven that they are gone. Times are monotonic milliseconds. */
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

  /** Those whose departure is not proven yet. Proven ones are forgotten. */
  current(nowMs: number): Departure[] {
    for (const [name, leaving] of this.#leaving) if (this.#isProven(leaving, nowMs)) this.#leaving.delete(name);
    return [...this.#leaving].map(([name, { how, sinceMs }]) => {
      const span = how === "deleted" ? deletedGraceMs : absenceSpanMs;
      return { name, afterMs: Math.max(1000, sinceMs + span - nowMs) };
    });
  }

  /** When the next complete list could prove something, if one is needed at all. */
  listDueMs(): number | undefined {
    const absent = [...this.#leaving.values()].filter(({ how }) => how === "absent").map(({ sinceMs }) => sinceMs);
    return absent.length > 0 ? Math.min(...absent) + absenceSpanMs : undefined;
  }

  /** When a second list would prove the absence of nodes that were never listed. */
  absenceDueMs(): number | undefined {
    return this.#firstListMs === undefined || this.absenceProven ? undefined : this.#firstListMs + absenceSpanMs;
  }

  #isProven({ how, sinceMs }: Leaving, nowMs: number): boolean {
    if (how === "deleted") return nowMs - sinceMs >= deletedGraceMs;
    return this.#lastListMs !== undefined && this.#lastListMs - sinceMs >= absenceSpanMs;
  }
}
