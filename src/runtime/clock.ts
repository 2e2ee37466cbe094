import { setTimeout as delay } from "node:timers/promises";

/** Time as the program sees it. Tests pass a clock they move by hand. */
export interface Clock {
  /** Milliseconds on a clock that never jumps. Only differences mean something. */
  now(): number;
  /** The wall clock, for what people and other machines read. */
  date(): Date;
  /** Resolves after `ms`; rejects when the signal aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  date: () => new Date(),
  sleep: (ms, signal) => delay(Math.max(0, ms), undefined, signal ? { signal } : undefined),
};
