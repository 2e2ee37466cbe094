import { clusterMeshes } from "../api/cluster-mesh.ts";
import { clusterMeshCrd, customResourceDefinitions } from "../api/crd.ts";
import { type ConnectionConfig, connectionId } from "../kube/connection-config.ts";
import { createClient } from "../kube/http-client.ts";
import { parseKubeconfig } from "../kube/kubeconfig.ts";
import { defaultConfig } from "../operator/config.ts";
import { runOperator } from "../operator/run-operator.ts";
import { systemClock } from "../runtime/clock.ts";
import type { Sandbox, SandboxCluster } from "../sandbox/sandbox.ts";
import { type DemoSummary, demoMesh, demoSummary, prepareDemo } from "./demo-mesh.ts";
import { storyteller } from "./demo-story.ts";
import type { Terminal } from "./terminal.ts";

export interface DemoResult extends DemoSummary {
  readonly seconds: number;
}

export interface Demo {
  /** How it stood when the mesh was ready, or when waiting for that was given up. */
  readonly ready: Promise<DemoResult>;
  stop(): Promise<void>;
}

const giveUpAfterMs = 60_000;
const lookEveryMs = 25;
const allow = new Set(["loopback"] as const);

/** The operator over a sandbox, as it runs over real clusters: through HTTPS, with kubeconfigs from Secrets. */
export function startDemo(sandbox: Sandbox, terminal: Terminal, signal: AbortSignal): Demo {
  const configs = sandbox.clusters.map(configOf);
  const names = new Map(
    configs.map((config, index) => [connectionId(config).slice(0, 16), sandbox.clusters[index]?.name]),
  );
  const localName = sandbox.clusters[0]?.name ?? "";
  const nameOf = (connection: unknown): string => names.get(String(connection)) ?? localName;
  const [local] = configs;
  if (!local) throw new Error("a demo needs clusters");
  prepareDemo(sandbox);
  const ending = new AbortController();
  const client = createClient(local, { cluster: localName });
  const connect = (id: string, config: ConnectionConfig) => createClient(config, { cluster: nameOf(id) });
  const log = storyteller(terminal, nameOf);
  const ports = { client, localConfig: local, connect, clock: systemClock, log };
  const both = AbortSignal.any([signal, ending.signal]);
  const operator = runOperator({ ...defaultConfig, allow }, ports, both);
  return {
    ready: Promise.race([follow(sandbox, terminal, both), failure(operator)]),
    stop: async () => {
      ending.abort();
      await operator.catch(() => undefined);
      client.close();
    },
  };
}

function configOf(cluster: SandboxCluster): ConnectionConfig {
  const reading = parseKubeconfig(cluster.kubeconfig(), { allow });
  if (!reading.ok)
    throw new Error(`the sandbox wrote a kubeconfig that we refuse: ${JSON.stringify(reading.problems)}`);
  return reading.connection;
}

/** The operator ends before the demo only when it fails. */
async function failure(operator: Promise<void>): Promise<never> {
  await operator;
  throw new Error("the operator ended before the mesh was ready");
}

async function follow(sandbox: Sandbox, terminal: Terminal, signal: AbortSignal): Promise<DemoResult> {
  const startedMs = systemClock.now();
  const until = async (holds: () => boolean): Promise<void> => {
    while (!signal.aborted && !holds() && systemClock.now() - startedMs < giveUpAfterMs) {
      await systemClock.sleep(lookEveryMs, signal).catch(() => undefined);
    }
  };
  const { name } = clusterMeshCrd().metadata;
  const store = sandbox.clusters[0]?.store;
  await until(() => store?.find(customResourceDefinitions, { name }) !== undefined);
  if (!signal.aborted) store?.create(clusterMeshes, demoMesh(sandbox));
  terminal.line("The ClusterMesh kilo-system/my-mesh names them all.");
  await until(() => demoSummary(sandbox).ready);
  const seconds = Math.round((systemClock.now() - startedMs) / 100) / 10;
  // The operator's own last word comes right after its last write.
  await systemClock.sleep(lookEveryMs, signal).catch(() => undefined);
  return { ...demoSummary(sandbox), seconds };
}
