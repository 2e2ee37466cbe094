import type { Clock } from "../runtime/clock.ts";
import { isKubeError, type KubeError, type KubeErrorKind } from "./errors.ts";

export type UnknownReason = "not-yet-listed" | KubeErrorKind | "stopped";

/** What an informer may claim. Unknown is not empty: the last facts stay readable, and nothing follows from absence. */
export type Knowledge =
  | {
      readonly state: "known";
      readonly since: number;
      /** The right to watch is missing: the list is read again and again instead. */
      readonly polling?: true;
    }
  | {
      readonly state: "unknown";
      readonly since: number;
      readonly reason: UnknownReason;
      readonly error?: KubeError;
    };

export interface KnowledgeOptions {
  readonly clock: Clock;
  /** For so long a broken watch may be repaired before what we know counts as unknown. */
  readonly graceMs: number;
  readonly onChange: (knowledge: Knowledge) => void;
}

/** For so long what was known before a list stays known while the list goes on. */
const longestListMs = 30_000;

/** Turns what happens to list and watch into known or unknown. */
export class KnowledgeTracker {
  readonly #options: KnowledgeOptions;
  #current: Knowledge;
  #listed = false;
  #interruption: { readonly since: number; readonly over: AbortController } | undefined;
  #lastError: KubeError | undefined;

  constructor(options: KnowledgeOptions) {
    this.#options = options;
    this.#current = { state: "unknown", since: options.clock.now(), reason: "not-yet-listed" };
  }

  get current(): Knowledge {
    return this.#current;
  }

  /** A complete list was read; a watch has to follow within the grace. */
  listed(): void {
    this.#listed = true;
    this.#repaired();
    if (this.#current.state === "unknown") this.#known();
    this.interrupted();
  }

  watching(): void {
    this.#repaired();
    if (this.#listed) this.#known();
  }

  polling(): void {
    this.#repaired();
    if (this.#current.state === "known" && this.#current.polling) return;
    this.#change({ state: "known", since: this.#options.clock.now(), polling: true });
  }

  /** No watch is open any more. */
  interrupted(): void {
    if (this.#interruption || this.#current.state === "unknown") return;
    this.#await(this.#options.clock.now());
  }

  /** A page of a list has come: the server is there, and a large list takes longer than the grace. */
  progressed(): void {
    const since = this.#interruption?.since;
    if (since === undefined || this.#options.clock.now() - since > longestListMs) return;
    this.#endInterruption();
    this.#await(since);
  }

  /** An attempt failed. Being refused is an answer and counts at once; a broken connection may be repaired. */
  failed(error: KubeError): void {
    this.#lastError = error;
    this.interrupted();
    const refused = isKubeError(error, "unauthorized", "forbidden", "not-found");
    if (refused || this.#current.state === "unknown") this.#unknown();
  }

  stop(): void {
    this.#repaired();
    this.#change({ state: "unknown", since: this.#options.clock.now(), reason: "stopped" });
  }

  #await(since: number): void {
    const over = new AbortController();
    this.#interruption = { since, over };
    this.#options.clock.sleep(this.#options.graceMs, over.signal).then(
      () => this.#unknown(),
      () => undefined,
    );
  }

  #known(): void {
    const current = this.#current;
    if (current.state === "known" && !current.polling) return;
    this.#change({ state: "known", since: this.#options.clock.now() });
  }

  #unknown(): void {
    const error = this.#lastError;
    const reason = error?.kind ?? "unreachable";
    const { state, since } = this.#current;
    const next: Knowledge = {
      state: "unknown",
      since: state === "unknown" ? since : (this.#interruption?.since ?? this.#options.clock.now()),
      reason,
      ...(error && { error }),
    };
    this.#endInterruption();
    if (this.#current.state === "unknown" && this.#current.reason === reason) this.#current = next;
    else this.#change(next);
  }

  #repaired(): void {
    this.#lastError = undefined;
    this.#endInterruption();
  }

  #endInterruption(): void {
    this.#interruption?.over.abort();
    this.#interruption = undefined;
  }

  #change(next: Knowledge): void {
    this.#current = next;
    this.#options.onChange(next);
  }
}
