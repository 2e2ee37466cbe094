import { mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Supervised, startSupervised } from "../e2e/control-plane/supervised.ts";
import { type Arena, operatorKubeconfig } from "./operator-arena.ts";
import { layImage } from "./operator-image.ts";
import { home } from "./operator-mesh.ts";

/** The shipped operator, as its image starts it. */
export interface OperatorProcess {
  /** On the driver's clock. */
  readonly startedAtMs: number;
  rssMib(): number;
  peakRssMib(): number;
  cpuSeconds(): number;
  /** Resolves when it has had nothing to do for a moment: what it still does for one sample must not delay the next. */
  rests(): Promise<void>;
  /** Throws when it has ended by itself. */
  alive(): void;
  stop(): Promise<void>;
}

const ticksPerSecond = 100;

/** `BENCH_PROFILE=DIR` writes a CPU profile of it there. */
export async function startOperatorProcess(arena: Arena): Promise<OperatorProcess> {
  const folder = mkdtempSync(join(arena.folder, "operator-"));
  const { flags, bundle, env } = layImage(arena.folder);
  const profile = process.env.BENCH_PROFILE;
  const child = await startSupervised({
    command: process.execPath,
    args: [
      ...flags,
      ...(profile ? ["--cpu-prof", `--cpu-prof-dir=${profile}`] : []),
      ...[bundle, "--leader-elect", `--namespace=${home}`, "--kubeconfig-allow=loopback"],
      ...[`--kubeconfig=${operatorKubeconfig(arena)}`, "--health-probe-bind-address=127.0.0.1:0"],
    ],
    env,
    cwd: folder,
    logFile: join(folder, "operator.log"),
    graceMs: 10_000,
  });
  return asOperator(child, performance.now());
}

function asOperator(child: Supervised, startedAtMs: number): OperatorProcess {
  return {
    startedAtMs,
    rssMib: () => statusOf(child.pid, "VmRSS"),
    peakRssMib: () => statusOf(child.pid, "VmHWM"),
    cpuSeconds: () => cpuOf(child.pid),
    rests: () => untilResting(child.pid),
    alive: () => {
      if (!child.running) throw new Error("the operator has ended by itself");
    },
    stop: () => child.stop(),
  };
}

const momentMs = 100;
const restsWithinMs = 30_000;

/** One tick of the kernel's clock in a moment is what signs of life cost. */
async function untilResting(pid: number): Promise<void> {
  const endsAtMs = performance.now() + restsWithinMs;
  for (let before = cpuOf(pid); performance.now() < endsAtMs; ) {
    await delay(momentMs);
    const now = cpuOf(pid);
    if (now - before < 1.5 / ticksPerSecond) return;
    before = now;
  }
  throw new Error(`the operator did not come to rest within ${restsWithinMs / 1000} s`);
}

/** In MiB, as the kernel counts it. */
function statusOf(pid: number, field: "VmRSS" | "VmHWM"): number {
  const found = new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(found?.[1]) / 1024;
}

/** User and system time of all threads. The name of the program, in brackets, may hold anything. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}
