import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../runtime/clock.ts";
import type { Logger } from "../runtime/log.ts";
import { addressesOf } from "./look-up.ts";

export interface ResolverOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Told when an answer differs from the one before. */
  readonly onChange: () => void;
  /** All addresses of a name; throws when it does not resolve. For tests. */
  readonly resolve?: (name: string) => Promise<readonly string[]>;
}

const againAfterMs = 60_000;

/**
 * Follows the names that plans use. A name that fails keeps its last answer: a broken resolver moves no endpoint. One that
 * never had any has an empty one, so that who waits for it knows that it was asked.
 */
export class NameResolver {
  readonly #options: Required<ResolverOptions>;
  #answers: ReadonlyMap<string, readonly string[]> = new Map();
  readonly #wanted = new Map<string, readonly string[]>();
  readonly #followed = new Map<string, AbortController>();

  constructor(options: ResolverOptions) {
    this.#options = { resolve: addressesOf, ...options };
  }

  /** A new map whenever an answer differs. */
  get answers(): ReadonlyMap<string, readonly string[]> {
    return this.#answers;
  }

  /** The names that this asker needs from now on; each costs one look-up a minute. What nobody needs is forgotten. */
  follow(asker: string, names: readonly string[]): void {
    if (names.length > 0) this.#wanted.set(asker, names);
    else this.#wanted.delete(asker);
    const wanted = new Set([...this.#wanted.values()].flat());
    for (const name of this.#followed.keys()) if (!wanted.has(name)) this.#forget(name);
    for (const name of wanted) if (!this.#followed.has(name)) this.#start(name);
  }

  stop(): void {
    for (const name of this.#followed.keys()) this.#forget(name);
  }

  #start(name: string): void {
    const ended = new AbortController();
    this.#followed.set(name, ended);
    void this.#keep(name, ended.signal);
  }

  #forget(name: string): void {
    this.#followed.get(name)?.abort();
    this.#followed.delete(name);
    if (this.#answers.has(name)) this.#answers = new Map([...this.#answers].filter(([known]) => known !== name));
  }

  async #keep(name: string, signal: AbortSignal): Promise<void> {
    let isFound = true;
    while (!signal.aborted) {
      const wasFound = isFound;
      isFound = await this.#ask(name, signal);
      if (wasFound && !isFound && !signal.aborted) this.#options.log.warn("name not resolved", { name });
      await this.#options.clock.sleep(againAfterMs, signal).catch(() => undefined);
    }
  }

  /** True when there is an answer. */
  async #ask(name: string, signal: AbortSignal): Promise<boolean> {
    const found = await this.#options.resolve(name).catch(() => undefined);
    if (!signal.aborted) this.#learn(name, found);
    return found !== undefined;
  }

  #learn(name: string, found: readonly string[] | undefined): void {
    const before = this.#answers.get(name);
    const answer = found ?? before ?? [];
    if (isDeepStrictEqual(answer, before)) return;
    this.#answers = new Map([...this.#answers, [name, answer]]);
    this.#options.onChange();
  }
}
