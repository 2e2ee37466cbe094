import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type KubernetesDiscoveryOptions,
  startKubernetesDiscovery,
} from "../../src/mesh-node/discovery/discover-kubernetes.ts";
import type { Discovery, Member } from "../../src/mesh-node/discovery/member.ts";
import { type EndpointSlice, endpointSlices } from "../../src/mesh-node/discovery/slice-facts.ts";
import { type SandboxCluster, startSandbox } from "../../src/sandbox/sandbox.ts";
import { fastClock } from "./fast-clock.ts";
import { fieldLogger, type LogLine } from "./field-logger.ts";

export interface Discovered {
  readonly discovery: Discovery;
  /** Every list of members that was told, oldest first. */
  readonly told: (readonly Member[])[];
  readonly log: LogLine[];
  names(): readonly string[];
  warnings(): readonly LogLine[];
}

/** The files of a service account in a folder of its own, and the environment of a pod. */
export interface PodFiles {
  readonly directory: string;
  write(name: "ca.crt" | "token" | "namespace", text: string): Promise<void>;
}

/** An API server with discoveries that look at it from inside, as pods do. */
export class Discovering {
  readonly cluster: SandboxCluster;
  readonly pod: PodFiles;
  readonly #stops: (() => Promise<unknown>)[];

  private constructor(cluster: SandboxCluster, pod: PodFiles, stops: (() => Promise<unknown>)[]) {
    this.cluster = cluster;
    this.pod = pod;
    this.#stops = stops;
  }

  static async create(): Promise<Discovering> {
    const sandbox = await startSandbox({ clusters: ["alpha"] });
    const cluster = sandbox.cluster("alpha");
    const directory = await mkdtemp(join(tmpdir(), "service-account-"));
    const pod: PodFiles = { directory, write: (name, text) => writeFile(join(directory, name), text) };
    await pod.write("ca.crt", cluster.caPem);
    await pod.write("token", `${cluster.adminToken}\n`);
    await pod.write("namespace", "mesh\n");
    return new Discovering(cluster, pod, [() => sandbox.stop(), () => rm(directory, { recursive: true })]);
  }

  /** Time passes twenty times as fast as it does: pauses of half a minute are seconds. */
  start(overrides: Partial<KubernetesDiscoveryOptions> = {}): Discovered {
    const told: (readonly Member[])[] = [];
    const log: LogLine[] = [];
    const discovery = startKubernetesDiscovery({
      labelSelector: "app=peat-node",
      annotationPrefix: "peat.",
      intervalMs: 30_000,
      defaultPort: 4433,
      env: envOf(this.cluster.url),
      directory: this.pod.directory,
      clock: fastClock(20),
      log: fieldLogger(log),
      onMembers: (members) => told.push(members),
      ...overrides,
    });
    this.#stops.unshift(() => discovery.close());
    return {
      discovery,
      told,
      log,
      names: () => discovery.members().map(({ name }) => name),
      warnings: () => log.filter(({ level }) => level === "warn" || level === "error"),
    };
  }

  put(slice: EndpointSlice): void {
    const { metadata } = slice;
    const known = this.cluster.store.find(endpointSlices, { namespace: "mesh", name: metadata.name });
    if (known) this.cluster.store.update(endpointSlices, slice);
    else this.cluster.store.create(endpointSlices, slice);
  }

  remove(name: string): void {
    this.cluster.store.delete(endpointSlices, { namespace: "mesh", name });
  }

  async stopAll(): Promise<void> {
    for (const stop of this.#stops) await stop();
  }
}

/** What the kubelet sets in a pod whose API server is at `url`. */
export function envOf(url: string): Readonly<Record<string, string>> {
  const { hostname, port } = new URL(url);
  return { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
}
