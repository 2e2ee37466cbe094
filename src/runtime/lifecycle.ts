import type { Clock } from "./clock.ts";
import { withDeadline } from "./deadline.ts";
import type { Logger } from "./log.ts";

/** Something that runs as long as the program does. */
export interface Part {
  readonly name: string;
  /** `signal` aborts when the program begins to stop: it ends waiting, not what `stop` still has to do in order. */
  start(signal: AbortSignal): Promise<void> | void;
  stop?(): Promise<void> | void;
}

export interface LifecycleOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** One part may take so long to stop before the next is asked. Default 10 s. */
  readonly stopWithinMs?: number;
}

export interface Running {
  readonly signal: AbortSignal;
  /** Stops every part, the last started first. A second call waits for the first. */
  stop(): Promise<void>;
}

/** Starts the parts in order. If one fails, those that run are stopped and its error is thrown. */
export async function startInOrder(parts: readonly Part[], options: LifecycleOptions): Promise<Running> {
  const ending = new AbortController();
  const started: Part[] = [];
  let stopped: Promise<void> | undefined;
  const stop = () => {
    ending.abort();
    stopped ??= stopInReverse(started, options);
    return stopped;
  };
  try {
    for (const part of parts) {
      await part.start(ending.signal);
      started.push(part);
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { signal: ending.signal, stop };
}

async function stopInReverse(parts: readonly Part[], options: LifecycleOptions): Promise<void> {
  const { clock, log, stopWithinMs = 10_000 } = options;
  for (const part of parts.toReversed()) {
    try {
      await withDeadline({ clock, ms: stopWithinMs }, async () => part.stop?.());
    } catch (error) {
      log.error("part did not stop", {
        part: part.name,
        error: error instanceof Error ? error.message : String(error),
      });
    }
  }
}
