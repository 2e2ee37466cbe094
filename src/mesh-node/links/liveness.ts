import type { Clock } from "../../runtime/clock.ts";

export interface LivenessOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Whether anything came since it was asked last. */
  readonly wasHeard: () => boolean;
  /** Lets the other side hear us. */
  readonly beat: () => void;
}

const tickMs = 1_000;
const beatEveryTicks = 3;
const silentAfterTicks = 8;

/**
 * Resolves with true when the peer was not heard for 8 seconds, with false when the signal ends it. Silence is counted
 * in turns of our own: a process that was stopped for a minute does not take its peers for dead.
 */
export async function fallsSilent({ clock, signal, wasHeard, beat }: LivenessOptions): Promise<boolean> {
  let silentTicks = 0;
  for (let tick = 1; ; tick++) {
    try {
      await clock.sleep(tickMs, signal);
    } catch {
      return false;
    }
    if (tick % beatEveryTicks === 0) beat();
    silentTicks = wasHeard() ? 0 : silentTicks + 1;
    if (silentTicks >= silentAfterTicks) return true;
  }
}
