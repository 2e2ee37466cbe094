import type { Children } from "./children.ts";
import type { InformerListed, InformerMeasured } from "./informer-run.ts";
import type { ServerReady, ServerStats } from "./node-server.ts";
import { type Expectation, type Figure, inRounds, type Report, type Variant } from "./report.ts";

export interface InformerOptions {
  readonly nodes: number;
  readonly events: number;
  readonly rounds: number;
}

/** What a measured process is told. */
export interface InformerRun {
  readonly kubeconfig: string;
  readonly nodes: number;
  readonly events: number;
}

type Measures = Readonly<Record<keyof typeof figures, number>>;

const figures = {
  listSeconds: { title: "list", unit: "s", digits: 2 },
  eventsPerSecond: { title: "watch events", unit: "/s", digits: 0 },
  cpuSeconds: { title: "CPU, list and watch", unit: "s", digits: 1 },
  peakRssMib: { title: "peak RSS", unit: "MiB", digits: 0 },
  heapPerNodeKib: { title: "heap per Node", unit: "KiB", digits: 2 },
  serverCpuSeconds: { title: "(server's CPU)", unit: "s", digits: 1 },
} as const satisfies Readonly<Record<string, Figure>>;

const expectations: readonly Expectation[] = [
  { figure: "eventsPerSecond", of: "ratio", atLeast: 1.15 },
  { figure: "peakRssMib", of: "ratio", atMost: 0.7 },
  { figure: "heapPerNodeKib", of: "ours", atMost: 2 },
];

/** One big cluster: all Nodes listed, then a storm of changes. */
export async function benchInformer(options: InformerOptions, children: Children): Promise<Report> {
  const { nodes, events, rounds } = options;
  const server = children.start("node-server.ts", { clusters: 1, nodes, peers: 0 });
  const { kubeconfigs } = await server.next<ServerReady>("ready");
  const measure = async (variant: Variant): Promise<Measures> => {
    server.send({ kind: "reset" });
    const run: InformerRun = { kubeconfig: kubeconfigs[0] ?? "", nodes, events };
    const child = children.start(`informer-${variant}.ts`, run);
    await child.next<InformerListed>("listed");
    server.send({ kind: "send", events });
    const measured = await child.next<InformerMeasured>("measured");
    await child.stop();
    server.send({ kind: "stats" });
    return measuresOf(measured, await server.next<ServerStats>("stats"), events);
  };
  const rows = await inRounds(rounds, measure);
  await server.stop();
  return { title: `${nodes} Nodes listed, then ${events} watch events, over TLS`, figures, expectations, ...rows };
}

function measuresOf(measured: InformerMeasured, server: ServerStats, events: number): Measures {
  return {
    listSeconds: measured.listMs / 1000,
    eventsPerSecond: events / (measured.followMs / 1000),
    cpuSeconds: measured.listCpuSeconds + measured.followCpuSeconds,
    peakRssMib: measured.peakRssMib,
    heapPerNodeKib: measured.heapBytesPerNode / 1024,
    serverCpuSeconds: server.cpuSeconds,
  };
}
