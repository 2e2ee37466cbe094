import { getHeapStatistics } from "node:v8";
import type { Clock } from "./clock.ts";

/** What the process has used so far, and what its heap takes now. */
export interface Usage {
  readonly cpuMs: number;
  readonly heapBytes: number;
}

export interface TidyOptions {
  readonly clock: Clock;
  /** Collects all garbage and shrinks the heap. Absent: nothing is ever tidied. */
  readonly collect?: (() => void) | undefined;
  readonly usage?: () => Usage;
}

const lookEveryMs = 5000;
/** Less of a processor than this is rest: what heartbeats cost. */
const restingShare = 0.1;
const grownBy = 1.1;
/** Of a heap that was so much larger than what is left of it, a second collection finds what the first has let go of. */
const burstBy = 1.5;

/**
 * Gives back what a burst of work took: a heap that had to grow stays so, if left alone. A process that has come to rest is
 * stopped for some 60 ms, and only when its heap has grown since the last time; after a big burst, twice. Ends with the
 * signal.
 */
export async function tidyAtRest(options: TidyOptions, signal: AbortSignal): Promise<void> {
  const { clock, collect = collector(), usage = usageNow } = options;
  if (!collect) return;
  let tidyBytes = 0;
  let isBurst = false;
  for (let before = usage(); ; ) {
    await clock.sleep(lookEveryMs, signal).catch(() => undefined);
    if (signal.aborted) return;
    const now = usage();
    const isResting = now.cpuMs - before.cpuMs < restingShare * lookEveryMs;
    if (isResting && (isBurst || now.heapBytes > tidyBytes * grownBy)) {
      collect();
      tidyBytes = usage().heapBytes;
      isBurst = now.heapBytes > tidyBytes * burstBy;
    }
    before = usage();
  }
}

/** What `--expose-gc` gives. */
function collector(): (() => void) | undefined {
  const { gc } = globalThis;
  return gc && (() => void gc({ type: "major", execution: "sync", flavor: "last-resort" }));
}

function usageNow(): Usage {
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1000, heapBytes: getHeapStatistics().total_heap_size };
}
