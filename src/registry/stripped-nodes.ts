import type { NodeName } from "../core/ids.ts";
import type { NodeFacts } from "../core/node.ts";

/** Remembers since when nodes that are listed have been without Kilo's key or address. Times are monotonic. */
export class StrippedNodes {
  readonly #sinceMs = new Map<NodeName, number>();

  changed(name: NodeName, facts: NodeFacts | undefined, nowMs: number): void {
    const isStripped = facts !== undefined && (facts.key === "" || facts.wireguardIp === "");
    if (!isStripped) this.#sinceMs.delete(name);
    else if (!this.#sinceMs.has(name)) this.#sinceMs.set(name, nowMs);
  }

  agesMs(nowMs: number): ReadonlyMap<NodeName, number> {
    return new Map([...this.#sinceMs].map(([name, sinceMs]) => [name, nowMs - sinceMs]));
  }
}
