import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../../runtime/clock.ts";

/** Long work awaits it between its pieces: after some milliseconds it lets everything else run first. */
export type Pace = () => Promise<void>;

export function createPace(clock: Clock, forMs = 10): Pace {
  let since = clock.now();
  return async () => {
    if (clock.now() - since < forMs) return;
    await nextTurn();
    since = clock.now();
  };
}
