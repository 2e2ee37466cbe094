import { lookup } from "node:dns/promises";
import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../runtime/clock.ts";
import type { Logger } from "../runtime/log.ts";

export interface ResolverOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Told when an answer differs from the one before. */
  readonly onChange: () => void;
  /** All addresses of a name; throws when it does not resolve. For tests. */
  readonly resolve?: (name: string) => Promise<readonly string[]>;
}

const againAfterMs = 60_000;

/** Follows the names that endpoints use. A name that fails keeps its last answer: a broken resolver moves no endpoint. */
export class NameResolver {
  readonly #options: Required<ResolverOptions>;
  readonly #answers = new Map<string, readonly string[]>();
  readonly #names = new Set<string>();
  readonly #stopped = new AbortController();

  constructor(options: ResolverOptions) {
    this.#options = { resolve: addressesOf, ...options };
  }

  get answers(): ReadonlyMap<string, readonly string[]> {
    return this.#answers;
  }

  /** Names stay until the operator stops; each costs one look-up a minute. */
  follow(names: readonly string[]): void {
    for (const name of names.filter((known) => !this.#names.has(known))) {
      this.#names.add(name);
      void this.#keep(name);
    }
  }

  stop(): void {
    this.#stopped.abort();
  }

  async #keep(name: string): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      await this.#ask(name);
      await this.#options.clock.sleep(againAfterMs, this.#stopped.signal).catch(() => undefined);
    }
  }

  async #ask(name: string): Promise<void> {
    const { resolve, log, onChange } = this.#options;
    const answer = await resolve(name).catch(() => undefined);
    if (!answer) log.warn("endpoint name not resolved", { name });
    if (!answer || isDeepStrictEqual(answer, this.#answers.get(name))) return;
    this.#answers.set(name, answer);
    onChange();
  }
}

/** IPv4 first, then by text: the same answer in another order is the same. */
async function addressesOf(name: string): Promise<string[]> {
  const found = await lookup(name, { all: true });
  return found.sort((a, b) => a.family - b.family || (a.address < b.address ? -1 : 1)).map(({ address }) => address);
}
