import type { NodeName } from "../core/ids.ts";
import type { NodeRecord } from "../core/node.ts";

/** Kilo takes a node out of its topology after a minute without a sign; half a minute more is grace. */
export const silentAfterMs = 90_000;
/** A node that died sends no event: its silence is looked for. */
export const sweepEveryMs = 15_000;

export interface Sweep {
  readonly nodes: Iterable<NodeRecord>;
  /** When a node was last heard of, on the monotonic clock. */
  readonly heardAtMs: (name: NodeName) => number | undefined;
  readonly nowMs: number;
}

/** The nodes of which nothing was heard for too long, as of the last sweep. */
export class SilentNodes {
  #silent: ReadonlySet<NodeName> = new Set();

  get current(): ReadonlySet<NodeName> {
    return this.#silent;
  }

  /** True when somebody fell silent or was heard again. */
  sweep({ nodes, heardAtMs, nowMs }: Sweep): boolean {
    const silent = new Set<NodeName>();
    for (const { facts, beats } of nodes) {
      const { name } = facts;
      if (beats && nowMs - (heardAtMs(name) ?? nowMs) >= silentAfterMs) silent.add(name);
    }
    const isSame = silent.size === this.#silent.size && [...silent].every((name) => this.#silent.has(name));
    if (!isSame) this.#silent = silent;
    return !isSame;
  }
}
