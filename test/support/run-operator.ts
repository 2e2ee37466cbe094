import type { KubeClient } from "../../src/kube/client.ts";
import type { ConnectionConfig } from "../../src/kube/connection-config.ts";
import { createClient } from "../../src/kube/http-client.ts";
import { parseKubeconfig } from "../../src/kube/kubeconfig.ts";
import { defaultConfig, type OperatorConfig } from "../../src/operator/config.ts";
import { runOperator } from "../../src/operator/run-operator.ts";
import type { Clock } from "../../src/runtime/clock.ts";
import type { Logger } from "../../src/runtime/log.ts";
import type { Hearing } from "./hearing.ts";

const allow = new Set(["loopback"] as const);

export interface OperatorRun {
  readonly kubeconfig: string;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Notes what the operator's watches have brought. */
  readonly hearing: Hearing;
  /** What differs from the default; with addresses to serve, the log says which ports were found. */
  readonly config?: Partial<OperatorConfig>;
}

export interface RunningOperator {
  /** Resolves when it is at its end; rejects with what ended it. */
  stop(): Promise<void>;
}

/** The operator in this process, as its command starts it, against whatever the kubeconfig leads to. */
export function startOperator({ kubeconfig, userAgent, clock, log, hearing, config }: OperatorRun): RunningOperator {
  const connect = (cluster: string, there: ConnectionConfig): KubeClient =>
    hearing.of(there.server, createClient(there, { cluster, userAgent }));
  const localConfig = configOf(kubeconfig);
  const client = connect("local", localConfig);
  const ending = new AbortController();
  const ports = { client, localConfig, connect, clock, log };
  const running = runOperator({ ...defaultConfig, allow, ...config }, ports, ending.signal);
  running.catch((error: unknown) => log.error("the operator ended", { error: String(error) }));
  const stop = async (): Promise<void> => {
    ending.abort();
    await running.catch(unlessAborted).finally(() => client.close());
  };
  return { stop };
}

/** Who is stopped while it starts may say so. */
function unlessAborted(error: unknown): void {
  if (!(error instanceof Error && error.name === "AbortError")) throw error;
}

/** Throws when the text is no kubeconfig that we accept from this machine. */
export function configOf(kubeconfig: string): ConnectionConfig {
  const reading = parseKubeconfig(kubeconfig, { allow });
  if (!reading.ok) throw new Error(`not a kubeconfig: ${JSON.stringify(reading.problems)}`);
  return reading.connection;
}
