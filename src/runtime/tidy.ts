import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Clock } from "./clock.ts";

/** What the process has used so far, and what its heap takes now. */
export interface Usage {
  readonly cpuMs: number;
  readonly heapBytes: number;
}

export interface TidyOptions {
  readonly clock: Clock;
  /** Collects all garbage and shrinks the heap. */
  readonly collect?: () => void;
  readonly usage?: () => Usage;
}

const lookEveryMs = 5000;
/** Less of a processor than this is rest: what heartbeats cost. */
const restingShare = 0.1;
const grownBy = 1.5;
/** Work keeps the heap larger than it has to be, and V8 collects that in small steps: only rest is worth a stop of ours. */
const betweenMs = 60_000;
/** Of a heap that was so much larger than what is left of it, a second collection finds what the first has let go of. */
const burstBy = 1.5;

/**
 * Gives back what a burst of work took: a heap that had to grow stays so, if left alone. A process that has come to rest is
 * stopped for some 60 ms, at most once a minute and only when its heap has grown since the last time; after a big burst,
 * twice. Ends with the signal. For a process that does nothing else: the heap is its own.
 */
export async function tidyAtRest(options: TidyOptions, signal: AbortSignal): Promise<void> {
  const { clock, usage = usageNow } = options;
  let { collect } = options;
  let tidyBytes = 0;
  let tidiedAtMs = Number.NEGATIVE_INFINITY;
  let isBurst = false;
  for (let before = usage(); ; ) {
    await clock.sleep(lookEveryMs, signal).catch(() => undefined);
    if (signal.aborted) return;
    collect ??= thrifty();
    const now = usage();
    const isResting = now.cpuMs - before.cpuMs < restingShare * lookEveryMs;
    const isGrown = now.heapBytes > tidyBytes * grownBy && clock.now() >= tidiedAtMs + betweenMs;
    if (isResting && (isBurst || isGrown)) {
      collect();
      tidiedAtMs = clock.now();
      tidyBytes = usage().heapBytes;
      isBurst = !isBurst && now.heapBytes > tidyBytes * burstBy;
    }
    before = usage();
  }
}

/**
 * From now on V8 compiles what runs often once, and quickly, and not a second time for the utmost speed: at a start that
 * takes longer than it saves, and a process that mostly waits never gets it back. To be called when everything is loaded,
 * for the reason below.
 */
export function compileOnce(): void {
  setFlagsFromString("--no-turbofan");
}

/**
 * From now on the heap grows in small steps, from what the last collection has left of it. Returns what collects it.
 *
 * Said here and not on the command line: flags of V8 that are set when Node starts make it refuse the code that Node's own
 * modules were compiled to when Node was built, and each start then compiles them again. By now they are loaded.
 */
function thrifty(): () => void {
  setFlagsFromString("--heap-growing-percent=40");
  setFlagsFromString("--expose-gc");
  const gc: NodeJS.GCFunction = runInNewContext("gc");
  return () => void gc({ type: "major", execution: "sync", flavor: "last-resort" });
}

function usageNow(): Usage {
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1000, heapBytes: getHeapStatistics().total_heap_size };
}
