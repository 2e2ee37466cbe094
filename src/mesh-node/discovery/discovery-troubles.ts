import type { Logger } from "../../runtime/log.ts";
import { type DiscoveryReason, discoveryReasons } from "../reasons.ts";
import type { DiscoveryState } from "./member.ts";

/** What discovery says about itself: each cause is logged once in an outage, and the end of the outage once. */
export class DiscoveryTroubles {
  readonly #log: Logger;
  readonly #told = new Set<DiscoveryReason>();
  #state: DiscoveryState = unknownState("Starting");

  constructor(log: Logger) {
    this.#log = log;
  }

  get state(): DiscoveryState {
    return this.#state;
  }

  /** The members are no longer certain. `detail` is in our own words and holds no secret. */
  report(reason: DiscoveryReason, detail?: string): void {
    this.#state = unknownState(reason, detail);
    this.#warnOnce(reason, detail);
  }

  /** The members are certain; `but` says what is still not as it should be. */
  end(but?: DiscoveryReason): void {
    const wasKnown = this.#state.known;
    this.#state = { known: true, ...(but && { problem: textOf(but) }) };
    for (const reason of this.#told) if (reason !== but) this.#told.delete(reason);
    if (!wasKnown) this.#log.info("discovery works");
    if (but) this.#warnOnce(but);
  }

  close(): void {
    this.#state = unknownState("Closed");
  }

  #warnOnce(reason: DiscoveryReason, error?: string): void {
    if (this.#told.has(reason)) return;
    this.#told.add(reason);
    const { hint } = discoveryReasons[reason];
    this.#log.warn("discovery does not work as it should", { reason, hint, ...(error && { error }) });
  }
}

export function unknownState(reason: DiscoveryReason, detail?: string): DiscoveryState {
  return { known: false, problem: textOf(reason, detail) };
}

function textOf(reason: DiscoveryReason, detail?: string): string {
  return detail ? `${reason}: ${detail}` : `${reason}: ${discoveryReasons[reason].hint}`;
}
