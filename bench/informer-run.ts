import { cpuSeconds, liveHeapBytes, peakRssMib } from "./process-figures.ts";

/** An informer to be measured. */
export interface InformerJob {
  /** Starts it; resolves when the list is in memory. */
  list(): Promise<void>;
  /** Resolves when the last event has been taken in. */
  follow(): Promise<void>;
  /** How many Nodes it holds. */
  size(): number;
}

export interface InformerListed {
  readonly kind: "listed";
}

export interface InformerMeasured {
  readonly kind: "measured";
  readonly listMs: number;
  readonly followMs: number;
  readonly listCpuSeconds: number;
  readonly followCpuSeconds: number;
  readonly peakRssMib: number;
  readonly heapBytesPerNode: number;
}

/** Runs the job once and sends its figures. The collector is called before and after, never in between. */
export async function measureInformer(job: InformerJob): Promise<void> {
  process.on("disconnect", () => process.exit());
  const emptyHeap = liveHeapBytes();
  const [startedAt, startCpu] = [performance.now(), cpuSeconds()];
  await job.list();
  const [listedAt, listedCpu] = [performance.now(), cpuSeconds()];
  process.send?.({ kind: "listed" } satisfies InformerListed);
  await job.follow();
  const [endedAt, endCpu, peak] = [performance.now(), cpuSeconds(), peakRssMib()];
  const heapBytes = liveHeapBytes() - emptyHeap;
  process.send?.({
    kind: "measured",
    listMs: listedAt - startedAt,
    followMs: endedAt - listedAt,
    listCpuSeconds: listedCpu - startCpu,
    followCpuSeconds: endCpu - listedCpu,
    peakRssMib: peak,
    heapBytesPerNode: heapBytes / job.size(),
  } satisfies InformerMeasured);
}
