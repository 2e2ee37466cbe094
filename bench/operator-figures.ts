import { median, percentile } from "./operator-percentile.ts";
import type { ChangeTimes } from "./operator-phases.ts";
import type { OperatorFigure } from "./operator-report.ts";
import { type RequestTally, requestsIn } from "./operator-requests.ts";
import type { Starts } from "./operator-start.ts";

/** Where the operator is measured: `growth` looks at its memory alone. */
export type Place = "real" | "embedded" | "growth";

interface Resting {
  readonly requests: number;
  readonly cpuSecondsPerMinute: number;
  readonly rssMib: number;
}

/** Everything that was measured on one set of clusters. */
export interface RunFigures {
  readonly starts: Starts;
  readonly startCpuSeconds: number;
  readonly startPeakRssMib: number;
  readonly startRequests: RequestTally;
  readonly idle: Resting;
  readonly changes: ChangeTimes;
  /** For one change and one Peer that somebody else has written. */
  readonly changeCpuMs: number;
  readonly beatenChanges: ChangeTimes;
  readonly beaten: Resting;
  readonly joinMs: readonly number[];
  readonly leaveMs: readonly number[];
  readonly renumberMs: readonly number[];
  readonly renumberRequests: RequestTally;
  readonly carrierMoves: number;
  readonly peakRssMib: number;
}

type Row = Omit<OperatorFigure, "figure">;

/** The Go operator was measured with 3 x 100 nodes alone. */
export function runFigures(run: RunFigures, place: Place): OperatorFigure[] {
  const rows = { ...startRows(run), ...changeRows(run), ...membershipRows(run), ...costRows(run, place) };
  return Object.entries<Row>(rows).map(([figure, { go, ...row }]) =>
    go !== undefined && place === "real" ? { figure, ...row, go } : { figure, ...row },
  );
}

const seconds = { unit: "s", digits: 2 } as const;
const milliseconds = { unit: "ms", digits: 1 } as const;
const count = { unit: "", digits: 0 } as const;
const mebibytes = { unit: "MiB", digits: 0 } as const;
/** The goals are in megabytes, the kernel counts in mebibytes. */
const megabytes = (count: number): number => (count * 1e6) / 2 ** 20;

function startRows({ starts, startRequests, startCpuSeconds }: RunFigures) {
  return {
    start: {
      title: "start of the process to the last Peer",
      ...seconds,
      ours: median(starts.operator.map(({ lastPeerMs }) => lastPeerMs)) / 1000,
      floor: median(starts.floorMs) / 1000,
      ratio: median(
        starts.floorMs.map((floorMs, round) => (starts.operator[round]?.lastPeerMs ?? Number.NaN) / floorMs),
      ),
      expected: { of: "ratio", atMost: 1.5 },
      go: "75.3 s",
    },
    startFirst: {
      title: "  to the first Peer",
      ...seconds,
      ours: median(starts.operator.map(({ firstPeerMs }) => firstPeerMs)) / 1000,
    },
    startPeerWrites: { title: "  its Peer writes", ...count, ours: startRequests.peerWrites },
    startOtherRequests: {
      title: "  its other writes and reads",
      ...count,
      ours: requestsIn(startRequests) - startRequests.peerWrites,
    },
    startCpu: { title: "  its CPU", ...seconds, ours: startCpuSeconds },
  } satisfies Record<string, Row>;
}

function changeRows({ changes, beatenChanges, changeCpuMs }: RunFigures) {
  const idleP99 = percentile(changes.changeMs, 0.99);
  const beatenP99 = percentile(beatenChanges.changeMs, 0.99);
  const row = (title: string, times: ChangeTimes, share: number) => ({
    title,
    ...milliseconds,
    ours: percentile(times.changeMs, share),
    floor: percentile(times.writeMs, share),
  });
  const expected = { of: "ratio", atMost: 3 } as const;
  return {
    changeP50: { ...row("node change to the last Peer, p50", changes, 0.5), go: "42 ms" },
    changeP99: { ...row("  p99", changes, 0.99), expected, go: "61 ms" },
    changeAnswered: {
      title: "  p50 from the answer to the node's write",
      ...milliseconds,
      ours: percentile(changes.afterAnswerMs, 0.5),
    },
    changeCpu: { title: "  CPU for each", ...milliseconds, ours: changeCpuMs },
    beatenP50: { ...row("under heartbeats, p50", beatenChanges, 0.5), go: "730 ms" },
    beatenP99: { ...row("  p99", beatenChanges, 0.99), expected, go: "1180 ms" },
    beatenAgainstIdle: {
      title: "  p99 beside the idle p99",
      ...milliseconds,
      ours: beatenP99,
      floor: idleP99,
      expected: { of: "ratio", atMost: 1.2 },
    },
  } satisfies Record<string, Row>;
}

function membershipRows({ joinMs, leaveMs, renumberMs, renumberRequests, starts }: RunFigures) {
  return {
    joinP50: { title: "node joins, p50", ...milliseconds, ours: median(joinMs), go: "490 ms" },
    joinP99: { title: "  p99", ...milliseconds, ours: percentile(joinMs, 0.99), go: "900 ms" },
    leaveP50: { title: "node leaves, p50 beyond the 30 s", ...milliseconds, ours: median(leaveMs), go: "700 ms" },
    leaveP99: { title: "  p99", ...milliseconds, ours: percentile(leaveMs, 0.99), go: "1310 ms" },
    renumber: {
      title: "all nodes of a cluster renumbered",
      ...seconds,
      ours: Math.max(...renumberMs) / 1000,
      floor: median(starts.renumberFloorMs) / 1000,
      go: "18 s",
    },
    renumberWrites: { title: "  its Peer writes", ...count, ours: renumberRequests.peerWrites },
  } satisfies Record<string, Row>;
}

function costRows({ idle, beaten, carrierMoves, peakRssMib, startPeakRssMib }: RunFigures, place: Place) {
  const rssExpected = place === "real" ? { expected: { of: "ours", atMost: megabytes(100) } as const } : {};
  return {
    idleRequests: { title: "requests in 10 s idle", ...count, ours: idle.requests, expected: none, go: "0" },
    beatenRequests: {
      title: "requests in 30 s of heartbeats",
      ...count,
      ours: beaten.requests,
      expected: none,
      go: "480",
    },
    idleCpu: { title: "CPU in a minute, idle", ...seconds, ours: idle.cpuSecondsPerMinute },
    beatenCpu: { title: "  under heartbeats", ...seconds, ours: beaten.cpuSecondsPerMinute, go: "2.7 s" },
    carrierMoves: { title: "carriers moved", ...count, ours: carrierMoves, expected: none, go: "589 in a minute" },
    rss: { title: "RSS under heartbeats", ...mebibytes, ours: beaten.rssMib, ...rssExpected, go: "65 MB" },
    startPeakRss: { title: "  the most until all Peers were written", ...mebibytes, ours: startPeakRssMib },
    peakRss: { title: "  the most ever", ...mebibytes, ours: peakRssMib },
  } satisfies Record<string, Row>;
}

const none = { of: "ours", atMost: 0 } as const;

export interface Growth {
  readonly sizes: readonly number[];
  readonly rss: readonly number[];
  readonly moreThousands: number;
}

export function growthFigures({ sizes, rss, moreThousands }: Growth): OperatorFigure[] {
  const [small = Number.NaN, large = Number.NaN] = rss;
  return [
    { figure: "smallRss", title: `RSS at 3 x ${sizes[0]}`, ...mebibytes, ours: small },
    { figure: "largeRss", title: `RSS at 3 x ${sizes[1]}`, ...mebibytes, ours: large },
    {
      figure: "rssPerThousand",
      title: "more for every 1,000 nodes",
      unit: "MiB",
      digits: 1,
      ours: (large - small) / moreThousands,
      expected: { of: "ours", atMost: megabytes(5) },
    },
  ];
}
