import type { ConnectionId } from "../core/ids.ts";
import type { TargetReport } from "../core/status.ts";
import type { Clock } from "../runtime/clock.ts";
import type { SyncPorts } from "./sync-target.ts";

export interface ReactionsOptions {
  readonly clock: Clock;
  readonly onReaction: (target: ConnectionId, ms: number) => void;
}

/** A change of nodes that a target has not answered completely. */
interface Pending {
  /** When the earliest of them arrived. */
  readonly sinceMs: number;
  /** When the last Peer was written for it so far. */
  readonly wroteMs?: number;
}

/**
 * Measures how long targets take from a change of nodes to the last Peer written for it. A change that needs no write
 * counts for nothing, nor does the time in which a target is unknown: that is no reaction.
 */
export class Reactions {
  readonly #options: ReactionsOptions;
  readonly #pending = new Map<ConnectionId, Pending>();

  constructor(options: ReactionsOptions) {
    this.#options = options;
  }

  /** A change that concerns the target arrived. */
  changed(target: ConnectionId): void {
    this.#put(target, { sinceMs: this.#options.clock.now() });
  }

  forget(target: ConnectionId): void {
    this.#pending.delete(target);
  }

  /** The ports of one run of a target, measured. What arrives after the run has looked belongs to the next one. */
  measured(target: ConnectionId, ports: SyncPorts): SyncPorts {
    let pending: Pending | undefined;
    return {
      ...ports,
      observe: () => {
        pending = this.#pending.get(target);
        this.#pending.delete(target);
        return ports.observe();
      },
      apply: async (id, changes) => {
        const refusals = await ports.apply(id, changes);
        if (pending && changes.length > refusals.length) pending = { ...pending, wroteMs: this.#options.clock.now() };
        return refusals;
      },
      record: (id, report) => {
        if (pending) this.#settle(id, pending, report);
        ports.record(id, report);
      },
      wake: (id) => {
        if (pending) this.#put(id, pending);
        ports.wake(id);
      },
    };
  }

  #settle(target: ConnectionId, pending: Pending, { plan, refusals, pending: left }: TargetReport): void {
    if (plan.state === "unknown") return;
    if (refusals.length > 0 || left > 0) this.#put(target, pending);
    else if (pending.wroteMs !== undefined) this.#options.onReaction(target, pending.wroteMs - pending.sinceMs);
  }

  #put(target: ConnectionId, pending: Pending): void {
    const known = this.#pending.get(target);
    if (!known || pending.sinceMs < known.sinceMs) this.#pending.set(target, pending);
  }
}
