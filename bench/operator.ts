import { loadavg } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { buildBundle } from "../e2e/operator/real-mesh.ts";
import type { Child, Children } from "./children.ts";
import { type Arena, embeddedArena, realArena } from "./operator-arena.ts";
import { growthFigures, type Place, type RunFigures, runFigures } from "./operator-figures.ts";
import { furnish } from "./operator-mesh.ts";
import { median } from "./operator-percentile.ts";
import { beat, measureChanges, measureJoins, measureLeaves, measureRenumbering } from "./operator-phases.ts";
import type { OperatorProcess } from "./operator-process.ts";
import type { OperatorSection } from "./operator-report.ts";
import { requestsIn, since } from "./operator-requests.ts";
import { type Bench, measureStarts, startConverged, startFloor } from "./operator-start.ts";
import { PeerWatch } from "./operator-watch.ts";

export interface OperatorOptions {
  readonly on: readonly Place[];
  /** In each cluster. */
  readonly nodes: number;
  readonly samples: number;
  readonly rounds: number;
}

const realClusters = 3;
const embeddedClusters = 10;
/** How much larger the clusters are with which the growth of memory is measured. */
const moreNodes = 1000;

/** The shipped operator on whole meshes, beside a bare loop that does the same writes through the same client. */
export async function benchOperator(options: OperatorOptions, children: Children): Promise<OperatorSection[]> {
  await quietly(buildBundle);
  const sections: OperatorSection[] = [];
  for (const place of options.on) {
    const [loadBefore = Number.NaN] = loadavg();
    sections.push({ loadBefore, ...(await sectionOf(place, options, children)) });
  }
  return sections;
}

type Measured = Omit<OperatorSection, "loadBefore">;

async function sectionOf(place: Place, options: OperatorOptions, children: Children): Promise<Measured> {
  const { nodes } = options;
  if (place === "growth") return measureGrowth(nodes, children);
  const [count, words] =
    place === "real" ? [realClusters, "real API servers"] : [embeddedClusters, "embedded clusters"];
  process.stderr.write(`${count} ${words}\n`);
  const arena = await (place === "real" ? realArena(count) : embeddedArena(count, children));
  const figures = await inArena(arena, { nodes, children }, (bench) => measureRun(bench, options));
  return {
    title: `${count} ${words}, ${nodes} nodes each, a service CIDR declared`,
    figures: runFigures(figures, place),
  };
}

async function inArena<T>(
  arena: Arena,
  { nodes, children }: { readonly nodes: number; readonly children: Children },
  run: (bench: Bench) => Promise<T>,
): Promise<T> {
  const watch = new PeerWatch(arena.clusters);
  try {
    await furnish(arena.clusters, nodes);
    await watch.start();
    return await run({ arena, watch, children, nodes });
  } finally {
    await watch.stop();
    await arena.stop();
  }
}

const idleMs = 10_000;
/** The last status follows within ten seconds of the Peers. */
const settleMs = 12_000;

async function measureRun(bench: Bench, { samples, rounds }: OperatorOptions): Promise<RunFigures> {
  const starts = await measureStarts(bench, rounds);
  const before = await bench.arena.requests();
  const { operator, ...started } = await startConverged(bench);
  const startCpuSeconds = operator.cpuSeconds();
  const startPeakRssMib = operator.peakRssMib();
  await delay(settleMs);
  const startRequests = since(before, await bench.arena.requests());
  const floor = startFloor(bench);
  try {
    const idle = await measureIdle(bench, operator);
    const phases = await measurePhases(bench, floor, { operator, samples });
    operator.alive();
    return {
      starts: { ...starts, operator: [...starts.operator, started] },
      ...{ startCpuSeconds, startPeakRssMib, startRequests, idle },
      ...phases,
      carrierMoves: bench.watch.carrierMoves,
      peakRssMib: operator.peakRssMib(),
    };
  } finally {
    await floor.stop();
    await operator.stop();
  }
}

/** What the operator costs while nobody asks anything of it. */
async function measureIdle({ arena }: Bench, operator: OperatorProcess, forMs = idleMs) {
  const [requests, cpuSeconds] = [await arena.requests(), operator.cpuSeconds()];
  await delay(forMs);
  const [later, used] = [await arena.requests(), operator.cpuSeconds() - cpuSeconds];
  return {
    requests: requestsIn(since(requests, later)),
    cpuSecondsPerMinute: (used * 60_000) / forMs,
    rssMib: operator.rssMib(),
  };
}

interface Phases {
  readonly operator: OperatorProcess;
  readonly samples: number;
}

const joins = 20;

async function measurePhases(bench: Bench, floor: Child, { operator, samples }: Phases) {
  const subject = { ...bench, operator };
  const say = (text: string): void => void process.stderr.write(`${text}\n`);
  say("changes, idle");
  const cpuSeconds = operator.cpuSeconds();
  const changes = await measureChanges(subject, floor, { samples, fromPort: 21_000 });
  const changeCpuMs = ((operator.cpuSeconds() - cpuSeconds) * 1000) / samples;
  say("changes under heartbeats");
  // Until the end: nodes that have beaten once and fall silent would rightly lose what they carry.
  const stopBeating = beat(bench);
  try {
    const beatenChanges = await measureChanges(subject, floor, { samples, fromPort: 31_000 });
    say("heartbeats alone");
    const beaten = await measureIdle(bench, operator, 30_000);
    say("joins and leaves");
    const joinMs = await measureJoins(subject, joins);
    const leaveMs = await measureLeaves(bench, joins);
    say("renumbering");
    return { changes, changeCpuMs, beatenChanges, beaten, joinMs, leaveMs, ...(await measureRenumberings(bench)) };
  } finally {
    await stopBeating();
  }
}

async function measureRenumberings(bench: Bench) {
  const before = await bench.arena.requests();
  const renumberMs = await measureRenumbering(bench, true);
  await delay(settleMs);
  const renumberRequests = since(before, await bench.arena.requests());
  return { renumberMs: [renumberMs, await measureRenumbering(bench, false)], renumberRequests };
}

async function measureGrowth(nodes: number, children: Children): Promise<Measured> {
  const sizes = [nodes, nodes + moreNodes];
  const rss: number[] = [];
  for (const size of sizes) {
    process.stderr.write(`memory at ${realClusters} x ${size}\n`);
    const arena = await embeddedArena(realClusters, children);
    rss.push(await inArena(arena, { nodes: size, children }, restingRss));
  }
  const moreThousands = (realClusters * moreNodes) / 1000;
  return {
    title: `memory: ${realClusters} embedded clusters, ${sizes.join(" and then ")} nodes each`,
    figures: growthFigures({ sizes, rss, moreThousands }),
  };
}

const restMs = 30_000;
const rests = 3;

/** The median of some processes: what malloc gives back differs from one to the next by a few MB. */
async function restingRss(bench: Bench): Promise<number> {
  const rss: number[] = [];
  for (let round = 1; round <= rests; round++) {
    const { operator } = await startConverged(bench);
    await delay(restMs);
    rss.push(operator.rssMib());
    await operator.stop();
  }
  return median(rss);
}

/** The build says on standard output what it has built, and that belongs to the report. */
async function quietly(work: () => Promise<void>): Promise<void> {
  const { log } = console;
  console.log = console.error;
  try {
    await work();
  } finally {
    console.log = log;
  }
}
