import { setImmediate as nextTurn } from "node:timers/promises";
import { type BackoffRange, backoffMs } from "../runtime/backoff.ts";
import { isKubeError, KubeError } from "./errors.ts";
import type { KnowledgeTracker } from "./knowledge.ts";
import { Lister, type ListerOptions, type ListSink } from "./lister.ts";
import type { KubeObject } from "./object.ts";
import { failureAdded, type ReadFailures } from "./read-failures.ts";
import { compareVersions } from "./resource-version.ts";
import { BrokenStreamError, type WatchEvent, watchEvents } from "./watch.ts";

/** Where the objects go. */
export interface ReflectorSink<T extends KubeObject> extends ListSink<T> {
  /** The list is taken over and counts as knowledge. */
  afterList(): void;
  apply(event: WatchEvent<T>): void;
  /** True when the event in a line of the watch tells nothing new; it counts as seen then, and is not applied. */
  isKnown(line: Buffer): boolean;
  /** How many objects are there. */
  readonly size: number;
}

export interface ReflectorOptions<T extends KubeObject> extends ListerOptions<T> {
  readonly random: () => number;
  readonly watchTimeoutSeconds: { readonly min: number; readonly max: number };
  readonly backoff: BackoffRange;
  readonly knowledge: KnowledgeTracker;
  readonly sink: ReflectorSink<T>;
}

const pollEveryMs = 30_000;
/** A stream that lived so long, or brought something new, ends a series of failures. */
const stableAfterMs = 5_000;
const maxRetryAfterMs = 300_000;
/** A burst of events may keep other work waiting for so long. */
const turnMs = 5;

/** Lists, then watches, for ever: resumes where it can, lists again where it must, and backs off in between. */
export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>;
  readonly #lister: Lister<T>;
  readonly #stopped = new AbortController();
  /** Ends the current watch or wait, not the loop. */
  #interrupt = new AbortController();
  #mustList = true;
  #failures = 0;
  #streamsEnded = 0;
  readonly #readFailures = new Map<string, number>();
  /** The stream of this round, once the server has accepted it. */
  #opened: { readonly at: number; readonly version: string } | undefined;
  #listedAt: number | undefined;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#lister = new Lister(options);
  }

  /** How many streams have ended: what was told of before and after one may have a gap of time between them. */
  get streamsEnded(): number {
    return this.#streamsEnded;
  }

  get readFailures(): ReadFailures {
    return this.#readFailures;
  }

  async run(): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      this.#interrupt = new AbortController();
      this.#opened = undefined;
      try {
        if (this.#mustList) await this.#list();
        if (!this.#mustList) await this.#watch().finally(() => this.#streamsEnded++);
        await this.#afterEnd();
      } catch (error) {
        await this.#afterFailure(error);
      }
    }
  }

  /** Lists again at once, without waiting for a backoff to end. */
  relist(): void {
    this.#mustList = true;
    this.#interrupt.abort();
  }

  stop(): void {
    this.#stopped.abort();
    this.#interrupt.abort();
  }

  async #list(): Promise<void> {
    const { clock, sink, knowledge } = this.#options;
    this.#mustList = false;
    try {
      await this.#lister.list(this.#stopped.signal);
    } catch (error) {
      this.#mustList = true;
      throw error;
    }
    this.#listedAt = clock.now();
    knowledge.listed();
    sink.afterList();
  }

  async #watch(): Promise<void> {
    const { clock, sink, progress, knowledge, selection, client, resource } = this.#options;
    let turnEnds = clock.now() + turnMs;
    const events = watchEvents({
      ...selection,
      client,
      resource,
      clock,
      signal: this.#interrupt.signal,
      resourceVersion: progress.version,
      timeoutSeconds: this.#timeoutSeconds(),
      onOpen: () => {
        this.#opened = { at: clock.now(), version: progress.version };
        knowledge.watching();
      },
      isKnown: (line) => sink.isKnown(line),
    });
    for await (const event of events) {
      sink.apply(event);
      this.#refuseTooMany();
      if (this.#interrupted()) return;
      if (clock.now() < turnEnds) continue;
      await nextTurn();
      turnEnds = clock.now() + turnMs;
    }
  }

  /** Whether all of it is there, the next list decides. */
  #refuseTooMany(): void {
    if (this.#options.sink.size <= this.#options.mostObjects) return;
    this.#mustList = true;
    throw this.#lister.tooMany("watch");
  }

  #timeoutSeconds(): number {
    const { random, watchTimeoutSeconds } = this.#options;
    const { min, max } = watchTimeoutSeconds;
    return Math.round(min + random() * (max - min));
  }

  async #afterEnd(): Promise<void> {
    if (this.#stopped.signal.aborted) return;
    this.#options.knowledge.interrupted();
    if (this.#interrupted() || this.#countFailure() === "stable") return;
    await this.#pause(this.#backoffMs());
  }

  async #afterFailure(error: unknown): Promise<void> {
    if (this.#stopped.signal.aborted) return;
    this.#options.knowledge.interrupted();
    if (this.#interrupted()) return;
    const failure = this.#asKubeError(error);
    failureAdded(this.#readFailures, failure);
    if (failure instanceof BrokenStreamError || isKubeError(failure, "gone", "not-found")) this.#mustList = true;
    this.#countFailure();
    this.#options.log.debug("list or watch failed", { error: failure.message, failures: this.#failures });
    if (failure.kind === "forbidden" && failure.verb === "watch") return this.#poll();
    this.#options.knowledge.failed(failure);
    await this.#pause(Math.max(this.#backoffMs(), Math.min(failure.retryAfterMs ?? 0, maxRetryAfterMs)));
  }

  /** Lists may be allowed where watches are not. If lists are refused too, the next one says so. */
  async #poll(): Promise<void> {
    const { clock, knowledge } = this.#options;
    const sinceList = this.#listedAt === undefined ? pollEveryMs : clock.now() - this.#listedAt;
    this.#mustList = true;
    if (sinceList >= pollEveryMs) return;
    this.#failures = 0;
    knowledge.polling();
    await this.#pause(pollEveryMs - sinceList);
  }

  /** A stream that brought news ends a series of failures too, but not if it makes us list again. */
  #countFailure(): "stable" | "unstable" {
    const { clock, progress } = this.#options;
    const opened = this.#opened;
    const stable = opened !== undefined && clock.now() - opened.at >= stableAfterMs;
    const news = opened !== undefined && compareVersions(progress.version, opened.version) > 0;
    this.#failures = stable || (news && !this.#mustList) ? 0 : this.#failures + 1;
    return stable ? "stable" : "unstable";
  }

  #backoffMs(): number {
    const { backoff, random } = this.#options;
    return backoffMs(backoff, Math.max(0, this.#failures - 1), random);
  }

  #interrupted(): boolean {
    return this.#interrupt.signal.aborted;
  }

  async #pause(ms: number): Promise<void> {
    try {
      await this.#options.clock.sleep(ms, this.#interrupt.signal);
    } catch {
      // Asked to go on at once, or stopped.
    }
  }

  #asKubeError(error: unknown): KubeError {
    if (error instanceof KubeError) return error;
    const stack = error instanceof Error ? error.stack : String(error);
    this.#options.log.error("unexpected failure of list or watch", { stack });
    return this.#lister.failure("watch", "unexpected failure");
  }
}
