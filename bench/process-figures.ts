import { readFileSync } from "node:fs";

const mebibyte = 1024 * 1024;

/** The most memory this process has held so far, in MiB. */
export function peakRssMib(): number {
  return (peakFromKernel() ?? process.resourceUsage().maxRSS) / 1024;
}

export function rssMib(): number {
  return process.memoryUsage.rss() / mebibyte;
}

export function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Bytes of live objects: what is left after a full collection. */
export function liveHeapBytes(): number {
  if (!globalThis.gc) throw new Error("start this process with --expose-gc");
  globalThis.gc();
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}

/** In KiB. Unlike getrusage it does not count what the parent held when it forked. */
function peakFromKernel(): number | undefined {
  try {
    const found = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"));
    return found ? Number(found[1]) : undefined;
  } catch {
    return undefined;
  }
}
