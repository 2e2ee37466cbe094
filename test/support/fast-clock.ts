import { type Clock, systemClock } from "../../src/runtime/clock.ts";

/**
 * Real time, faster: what the operator waits minutes for takes a second. For stories, where real sockets make a clock
 * that is moved by hand impossible.
 */
export function fastClock(factor: number): Clock {
  return {
    now: () => systemClock.now() * factor,
    date: () => systemClock.date(),
    sleep: (ms, signal) => systemClock.sleep(ms / factor, signal),
  };
}
