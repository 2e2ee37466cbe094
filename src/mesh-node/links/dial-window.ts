import type { LinkReason } from "../reasons.ts";

const most = 16;
const fewest = 2;

const late: ReadonlySet<LinkReason> = new Set<LinkReason>(["DialTimeout", "NoHandshake"]);

/**
 * How many dials may be under way. Many nodes that start at once on a busy machine are all late, and each dial makes the
 * others later: a new peer that is late halves the number, a link adds one. A peer that was late before says nothing of us.
 */
export class DialWindow {
  #size = most;

  get size(): number {
    return this.#size;
  }

  /** How a dial ended; `failures` is what had failed with this peer before it. */
  ended(reason: LinkReason | undefined, failures: number): void {
    if (reason === undefined || reason === "Duplicate") this.#size = Math.min(most, this.#size + 1);
    else if (late.has(reason) && failures === 0) this.#size = Math.max(fewest, this.#size >> 1);
  }
}
