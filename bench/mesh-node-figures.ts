import { type DocumentTimes, type Idle, type LinkTimes, sumOf } from "./mesh-node-phases.ts";
import type { MeshFigure } from "./mesh-node-report.ts";
import { median, percentile } from "./operator-percentile.ts";

const milliseconds = { unit: "ms", digits: 0 } as const;
const perSecond = { unit: "/s", digits: 0 } as const;
const count = { unit: "", digits: 0 } as const;
const mebibytes = { unit: "MiB", digits: 0 } as const;

/** The source asks for `--discovery-interval`, 30 s; a watch is expected to make this of it. */
const linkWithinMs = 2_000;

/** With an expectation where every node has what it needs of a core. */
export function linkFigures(times: LinkTimes, waves: readonly number[], isCrowded: boolean): MeshFigure[] {
  const { growMs, joinMs, lastMs } = times;
  const all = sumOf(waves);
  const from = all - (waves.at(-1) ?? 0);
  const expected = isCrowded ? {} : { atMost: linkWithinMs };
  return [
    {
      figure: "joinP50",
      title: `slice event to link, ${from} to ${all} nodes, p50`,
      ...milliseconds,
      value: median(joinMs),
    },
    { figure: "joinP99", title: "  p99", ...milliseconds, value: percentile(joinMs, 0.99), ...expected },
    { figure: "joinLast", title: "  the last link of an event, median", ...milliseconds, value: median(lastMs) },
    { figure: "joinLinks", title: "  links measured", ...count, value: joinMs.length },
    {
      figure: "growP50",
      title: `0 to ${all} nodes in waves of ${[...new Set(waves)].join(" and ")}, p50`,
      ...milliseconds,
      value: median(growMs),
    },
    { figure: "growP99", title: "  p99", ...milliseconds, value: percentile(growMs, 0.99) },
    { figure: "growLinks", title: "  links measured", ...count, value: growMs.length },
  ];
}

export function documentFigures(times: DocumentTimes): MeshFigure[] {
  const { count: put, durableMs, everywhereMs, cpuMs, inTurnMs, aloneMs, catchUpMs } = times;
  const rate = (ms: number): number => (put * 1000) / ms;
  return [
    {
      figure: "durableAlone",
      title: "documents put, durable on a node without links",
      ...perSecond,
      value: rate(aloneMs),
    },
    { figure: "durableLinked", title: "  on a node with links", ...perSecond, value: rate(durableMs) },
    { figure: "everywhere", title: "  put on one and there on all", ...perSecond, value: rate(everywhereMs) },
    { figure: "documentCpu", title: "  CPU of all nodes for each", unit: "ms", digits: 1, value: cpuMs / put },
    { figure: "putP50", title: "one put after the other, p50", unit: "ms", digits: 1, value: median(inTurnMs) },
    { figure: "putP99", title: "  p99", unit: "ms", digits: 1, value: percentile(inTurnMs, 0.99) },
    { figure: "catchUp", title: "slice event until all have what they missed", ...milliseconds, value: catchUpMs },
    { figure: "catchUpRate", title: "  documents", ...perSecond, value: rate(catchUpMs) },
  ];
}

/** Of nodes in processes of their own. */
export function processFigures(idle: Idle, filledMib: readonly number[], documents: number): MeshFigure[] {
  return [
    { figure: "rssLinked", title: "RSS of a node, linked, median", ...mebibytes, value: median(idle.rssMib) },
    { figure: "rssFilled", title: `  with ${documents} documents`, ...mebibytes, value: median(filledMib) },
    idleFigure(idle, idle.rssMib.length),
  ];
}

export function treeFigures(idle: Idle, nodes: number): MeshFigure[] {
  const rssMib = sumOf(idle.rssMib);
  return [
    { figure: "rssTree", title: `RSS of all ${idle.rssMib.length} processes`, ...mebibytes, value: rssMib },
    { figure: "rssNode", title: "  for each node", ...mebibytes, value: rssMib / nodes },
    idleFigure(idle, nodes),
  ];
}

function idleFigure({ cpuMsPerSecond }: Idle, nodes: number): MeshFigure {
  const value = cpuMsPerSecond / nodes;
  return { figure: "idleCpu", title: "CPU of a linked node in a second, idle", unit: "ms", digits: 1, value };
}
