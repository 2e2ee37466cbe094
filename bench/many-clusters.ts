import { setTimeout as delay } from "node:timers/promises";
import type { Child, Children } from "./children.ts";
import type { ManyListed, ManyMeasured } from "./many-clusters-run.ts";
import type { ServerReady, ServerStats } from "./node-server.ts";
import { type Figure, inRounds, type Report, type Variant } from "./report.ts";

export interface ManyClustersOptions {
  readonly clusters: number;
  /** In each cluster, and as many Peers. */
  readonly nodes: number;
  readonly rounds: number;
}

/** What a measured process is told. */
export interface ManyClustersRun {
  readonly kubeconfigs: readonly string[];
  readonly nodes: number;
  readonly peers: number;
}

type Measures = Readonly<Record<keyof typeof figures, number>>;

const figures = {
  listedSeconds: { title: "all clusters listed", unit: "s", digits: 2 },
  watchedSeconds: { title: "all clusters watched", unit: "s", digits: 2 },
  worstStallMs: { title: "worst event loop stall", unit: "ms", digits: 0 },
  cpuSeconds: { title: "CPU", unit: "s", digits: 1 },
  connections: { title: "TLS connections opened", unit: "", digits: 0 },
  openConnections: { title: "TLS connections kept", unit: "", digits: 0 },
  peakRssMib: { title: "peak RSS", unit: "MiB", digits: 0 },
  rssMib: { title: "RSS when all are watched", unit: "MiB", digits: 0 },
  heapMib: { title: "live heap for all of it", unit: "MiB", digits: 1 },
  serverCpuSeconds: { title: "(server's CPU)", unit: "s", digits: 1 },
} as const satisfies Readonly<Record<string, Figure>>;

/** What the operator does at its start: connects to every cluster at once, lists and watches Nodes and Peers. */
export async function benchManyClusters(options: ManyClustersOptions, children: Children): Promise<Report> {
  const { clusters, nodes, rounds } = options;
  const server = children.start("node-server.ts", { clusters, nodes, peers: nodes });
  const { kubeconfigs } = await server.next<ServerReady>("ready");
  const measure = async (variant: Variant): Promise<Measures> => {
    server.send({ kind: "reset" });
    const run: ManyClustersRun = { kubeconfigs, nodes, peers: nodes };
    const child = children.start(`many-clusters-${variant}.ts`, run);
    await child.next<ManyListed>("listed");
    const stats = await Promise.race([whenWatched(server, 2 * clusters), child.ended]);
    child.send({ kind: "watched" });
    const measured = await child.next<ManyMeasured>("measured");
    await child.stop();
    return measuresOf(measured, stats);
  };
  const rows = await inRounds(rounds, measure);
  await server.stop();
  return {
    title: `${clusters} clusters with ${nodes} Nodes and ${nodes} Peers each, over TLS`,
    figures,
    expectations: [{ figure: "connections", of: "ours", atMost: clusters }],
    ...rows,
  };
}

async function whenWatched(server: Child, watches: number): Promise<ServerStats> {
  for (;;) {
    server.send({ kind: "stats" });
    const stats = await server.next<ServerStats>("stats");
    if (stats.watches >= watches) return stats;
    await delay(20);
  }
}

function measuresOf(measured: ManyMeasured, server: ServerStats): Measures {
  return {
    listedSeconds: measured.listedMs / 1000,
    watchedSeconds: measured.watchedMs / 1000,
    worstStallMs: measured.worstStallMs,
    cpuSeconds: measured.cpuSeconds,
    connections: server.connections,
    openConnections: server.openConnections,
    peakRssMib: measured.peakRssMib,
    rssMib: measured.rssMib,
    heapMib: measured.heapBytes / 1024 / 1024,
    serverCpuSeconds: server.cpuSeconds,
  };
}
