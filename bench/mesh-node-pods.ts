import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freeUdpPort } from "../test/mesh-node/free-udp-port.ts";
import { type NodeProcess, startNodeProcess } from "../test/mesh-node/node-process.ts";
import { envOf } from "../test/support/discovering.ts";
import { parseExposition } from "../test/support/exposition.ts";
import { anEndpoint, aSlice } from "../test/support/slices.ts";
import type { Child, Children } from "./children.ts";
import type { PublishSlice, SliceClusterReady, SliceClusterRun, SlicePublished } from "./mesh-node-cluster.ts";
import type { HostChanges, HostCost, HostReady, HostRequest, HostRun } from "./mesh-node-host.ts";
import { linkChangeOf, type NodeGroup } from "./mesh-node-links.ts";

/** Everything that the node of a pod is started with. */
export interface PodWish {
  readonly name: string;
  /** Each has its own on the loopback network, and all have one port, as pods do. */
  readonly ip: string;
  readonly port: number;
  readonly dataDir: string;
  readonly sharedKey: string;
  readonly selector: string;
  readonly serviceAccountDir: string;
  readonly env: Readonly<Record<string, string>>;
}

const namespace = "mesh";
const sharedKey = Buffer.alloc(32, 3).toString("base64");

/**
 * A Service whose slice we write, for pods that come in waves. Those of a wave see the slice only with a label that
 * comes with them: else they would know the others before these know them, and no link would be due to the event.
 */
export class PodBed {
  readonly #cluster: Child;
  readonly #ready: SliceClusterReady;
  readonly #folder: string;
  readonly #port: number;

  private constructor(cluster: Child, ready: SliceClusterReady, port: number) {
    this.#cluster = cluster;
    this.#ready = ready;
    this.#port = port;
    this.#folder = mkdtempSync(join(tmpdir(), "mesh-node-bench-"));
    const files = { "ca.crt": ready.caPem, token: ready.token, namespace };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(this.#folder, name), text);
  }

  static async start(children: Children): Promise<PodBed> {
    const cluster = children.start("mesh-node-cluster.ts", { namespace } satisfies SliceClusterRun);
    return new PodBed(cluster, await cluster.next<SliceClusterReady>("ready"), await freeUdpPort());
  }

  /** Of waves of so many. */
  pods(waves: readonly number[]): PodWish[] {
    const waveOf = waves.flatMap((size, wave) => Array<number>(size).fill(wave));
    return waveOf.map((wave, index) => ({
      name: nameOf(index),
      ip: ipOf(index),
      port: this.#port,
      dataDir: join(this.#folder, nameOf(index)),
      sharedKey,
      selector: `app=peat-node,wave-${wave}=yes`,
      serviceAccountDir: this.#folder,
      env: envOf(this.#ready.url),
    }));
  }

  /** From now on the slice holds the first so many pods, and the first so many waves see it. Resolves with the time. */
  async publish(pods: number, waves: number): Promise<number> {
    const endpoints = Array.from({ length: pods }, (_, index) => anEndpoint(nameOf(index), ipOf(index)));
    const labels = Object.fromEntries(Array.from({ length: waves }, (_, wave) => [`wave-${wave}`, "yes"]));
    const ports = [
      { name: "grpc", port: 50_051, protocol: "TCP" },
      { name: "iroh-quic", port: this.#port, protocol: "UDP" },
    ];
    this.#cluster.send({ kind: "publish", slice: aSlice({ endpoints, labels, ports }) } satisfies PublishSlice);
    return (await this.#cluster.next<SlicePublished>("published")).atMs;
  }

  async stop(): Promise<void> {
    await this.#cluster.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

const nameOf = (index: number): string => `peat-${index}`;
const ipOf = (index: number): string => `127.0.${8 + Math.floor(index / 200)}.${10 + (index % 200)}`;

/** What a process costs. */
export interface Cost {
  readonly rssMib: number;
  /** Since its start. */
  readonly cpuSeconds: number;
}

/** The node of a pod in a process of its own, as it is shipped. */
export interface PodProcess extends NodeGroup {
  readonly node: NodeProcess;
  cost(): Promise<Cost>;
}

export async function startPodProcess(pod: PodWish, program: string): Promise<PodProcess> {
  const { name, ip, port, dataDir, selector, serviceAccountDir, env } = pod;
  const node = await startNodeProcess({
    flags: [
      ...["--discovery-mode", "kubernetes", "--discovery-label-selector", selector],
      ...["--service-account-dir", serviceAccountDir, "--data-dir", dataDir, "--app-id", "bench"],
      ...["--iroh-udp-host", ip, "--iroh-udp-port", String(port)],
    ],
    env: { ...env, POD_NAME: name, PEAT_NODE_SHARED_KEY: pod.sharedKey },
    program: [process.execPath, program],
  });
  const endNode = (): void => void node.end("SIGKILL");
  process.once("exit", endNode);
  let read = 0;
  return {
    node,
    ids: [node.endpointId],
    changes: async () => {
      const lines = node.lines().slice(read);
      read += lines.length;
      return lines.flatMap((line) => {
        const change = linkChangeOf(line);
        return change ? { ...change, node: node.endpointId } : [];
      });
    },
    cost: async () => {
      const said = parseExposition((await node.get("/metrics")).body);
      const rssMib = said.value("process_resident_memory_bytes") / 2 ** 20;
      return { rssMib, cpuSeconds: said.value("process_cpu_seconds_total") };
    },
  };
}

/** Nodes of many pods in one process. */
export interface PodHost extends NodeGroup {
  cost(): Promise<Cost>;
  stop(): Promise<void>;
}

export async function startPodHost(pods: readonly PodWish[], children: Children): Promise<PodHost> {
  const host = children.start("mesh-node-host.ts", { pods } satisfies HostRun);
  const { ids } = await host.next<HostReady>("ready");
  return {
    ids,
    changes: async () => {
      host.send({ kind: "changes" } satisfies HostRequest);
      return (await host.next<HostChanges>("changes")).changes;
    },
    cost: async () => {
      host.send({ kind: "cost" } satisfies HostRequest);
      return host.next<HostCost>("cost");
    },
    stop: () => host.stop(),
  };
}
