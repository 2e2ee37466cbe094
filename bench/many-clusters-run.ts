import { once } from "node:events";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { cpuSeconds, liveHeapBytes, peakRssMib, rssMib } from "./process-figures.ts";

export interface ManyListed {
  readonly kind: "listed";
}

export interface ManyMeasured {
  readonly kind: "measured";
  readonly listedMs: number;
  readonly watchedMs: number;
  readonly worstStallMs: number;
  readonly cpuSeconds: number;
  readonly peakRssMib: number;
  readonly rssMib: number;
  readonly heapBytes: number;
}

const stallResolutionMs = 10;

/** Measures `list`, which starts everything and resolves when all lists are in memory, until the server says `watched`. */
export async function measureManyClusters(list: () => Promise<void>): Promise<void> {
  process.on("disconnect", () => process.exit());
  const stalls = monitorEventLoopDelay({ resolution: stallResolutionMs });
  const emptyHeap = liveHeapBytes();
  const [startedAt, startCpu] = [performance.now(), cpuSeconds()];
  stalls.enable();
  await list();
  const listedAt = performance.now();
  process.send?.({ kind: "listed" } satisfies ManyListed);
  await once(process, "message");
  stalls.disable();
  process.send?.({
    kind: "measured",
    listedMs: listedAt - startedAt,
    watchedMs: performance.now() - startedAt,
    worstStallMs: Math.max(0, stalls.max / 1e6 - stallResolutionMs),
    cpuSeconds: cpuSeconds() - startCpu,
    peakRssMib: peakRssMib(),
    rssMib: rssMib(),
    heapBytes: liveHeapBytes() - emptyHeap,
  } satisfies ManyMeasured);
}
