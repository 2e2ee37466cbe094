import { setTimeout as delay } from "node:timers/promises";

/** What the log of a node says of one of its links. */
export interface LinkChange {
  readonly node: string;
  readonly peer: string;
  readonly isUp: boolean;
  /** On the clock of the machine. */
  readonly atMs: number;
}

/** Undefined for a line about anything else. */
export function linkChangeOf(line: Readonly<Record<string, unknown>>): Omit<LinkChange, "node"> | undefined {
  const { msg, peer, time } = line;
  if (msg !== "link up" && msg !== "link down") return undefined;
  return { peer: String(peer), isUp: msg === "link up", atMs: new Date(time as string | number).getTime() };
}

/** Where nodes run, one or many in a process. */
export interface NodeGroup {
  readonly ids: readonly string[];
  /** Since the last call. */
  changes(): Promise<readonly LinkChange[]>;
}

const pollMs = 50;

/** Which nodes are linked, and since when, by what their logs say. */
export class LinkWatch {
  readonly #groups: readonly NodeGroup[];
  /** By `node peer`. */
  readonly #upAtMs = new Map<string, number>();

  constructor(groups: readonly NodeGroup[]) {
    this.#groups = groups;
  }

  /** Resolves when each of these is linked to each other one and to nobody else: when each pair was, on both sides. */
  async untilMeshed(ids: readonly string[], withinMs: number): Promise<ReadonlyMap<string, number>> {
    const pairs = pairsOf(ids);
    const isMeshed = (): boolean =>
      this.#upAtMs.size === 2 * pairs.length && pairs.every((pair) => this.#pairAtMs(pair) !== undefined);
    const deadlineMs = performance.now() + withinMs;
    for (await this.#read(); !isMeshed(); await this.#read()) {
      if (performance.now() > deadlineMs)
        throw new Error(`${this.#upAtMs.size / 2} links after ${withinMs / 1000} s, not ${pairs.length}`);
      await delay(pollMs);
    }
    return new Map(pairs.map((pair) => [pair.join(" "), this.#pairAtMs(pair) ?? Number.NaN]));
  }

  #pairAtMs([one, other]: readonly [string, string]): number | undefined {
    const sides = [this.#upAtMs.get(`${one} ${other}`), this.#upAtMs.get(`${other} ${one}`)];
    return sides.includes(undefined) ? undefined : Math.max(...sides.map(Number));
  }

  async #read(): Promise<void> {
    for (const group of this.#groups)
      for (const { node, peer, isUp, atMs } of await group.changes()) {
        const key = `${node} ${peer}`;
        if (isUp) this.#upAtMs.set(key, atMs);
        else this.#upAtMs.delete(key);
      }
  }
}

function pairsOf(ids: readonly string[]): (readonly [string, string])[] {
  return ids.flatMap((one, index) => ids.slice(index + 1).map((other) => [one, other] as const));
}
