import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import type { ConnectionConfig } from "../kube/connection-config.ts";
import { createClient } from "../kube/http-client.ts";
import { inClusterConnection } from "../kube/in-cluster.ts";
import { parseKubeconfig } from "../kube/kubeconfig.ts";
import type { MetricsServing, OperatorConfig } from "../operator/config.ts";
import { systemClock } from "../runtime/clock.ts";
import { jsonLogger } from "../runtime/log.ts";
import { compileOnce, tidyAtRest } from "../runtime/tidy.ts";
import { type Environment, readEnvironment } from "./flag-words.ts";
import { addOperatorFlags, ignoredOf, type LogLevel, type OperatorFlags } from "./operator-flags.ts";
import { codeOf, UsageError, untilInterrupted } from "./terminal.ts";
import { version } from "./version.ts";

export function operatorCommand(): Command {
  const command = new Command("operator").description(
    "Run the operator until it is stopped. In a pod it uses the pod's service account.",
  );
  return addOperatorFlags(command).action(() => run(command));
}

async function run(command: Command): Promise<void> {
  readEnvironment(command, process.env);
  const flags: OperatorFlags = command.opts();
  const config = operatorConfig(flags, process.env);
  const log = jsonLogger(logLevelOf(flags));
  const userAgent = `kilo-clustermesh-operator/${version}`;
  const local = localConfig(flags);
  const client = createClient(local, { cluster: "local", userAgent });
  client.open();
  const connect = (cluster: string, remote: ConnectionConfig) => createClient(remote, { cluster, userAgent });
  const ignored = ignoredOf(command);
  log.info("operator starting", { version });
  if (ignored.length > 0) log.info("flags ignored", { flags: ignored });
  const ending = new AbortController();
  const tidying = tidyAtRest({ clock: systemClock }, ending.signal);
  try {
    const { runOperator } = await import("../operator/run-operator.ts");
    compileOnce();
    const ports = { client, localConfig: local, connect, clock: systemClock, log };
    await runOperator(config, ports, untilInterrupted());
  } finally {
    client.close();
    ending.abort();
    await tidying;
  }
}

/** What the flags come to. Throws a `UsageError` for flags that contradict each other. */
export function operatorConfig(flags: OperatorFlags, env: Environment): OperatorConfig {
  const namespace = flags.namespace ?? (env.POD_NAMESPACE || "kilo-system");
  return {
    instance: flags.instance,
    installCrd: flags.installCrd,
    leaderElection: flags.leaderElect && { namespace, identity: `${hostname()}_${randomUUID()}` },
    allow: flags.kubeconfigAllow,
    allowedCidrs: flags.allowedCidr,
    localNamespaces: flags.localNamespaces,
    legacyOrphans: flags.legacyOrphans,
    nodeKeepaliveSeconds: flags.nodeKeepalive,
    health: flags.healthProbeBindAddress,
    metrics: metricsServing(flags),
  };
}

function metricsServing(flags: OperatorFlags): MetricsServing | "off" {
  const { metricsBindAddress: address, metricsCertPath, metricsSecure = metricsCertPath !== undefined } = flags;
  if (address === "off") return "off";
  if (!metricsSecure) return { address, tls: false };
  if (metricsCertPath === undefined)
    throw new UsageError(
      "--metrics-secure needs --metrics-cert-path, a folder with tls.crt and tls.key.\n" +
        "Or give --metrics-secure=false and let a NetworkPolicy or a proxy say who may read metrics.",
    );
  const inFolder = (name: string): string => join(metricsCertPath, name);
  return {
    address,
    tls: { certFile: inFolder(flags.metricsCertName), keyFile: inFolder(flags.metricsCertKey) },
  };
}

export function logLevelOf({ logLevel, zapLogLevel }: OperatorFlags): LogLevel {
  return logLevel ?? zapLogLevel ?? "info";
}

/** The operator's own credentials are its owner's: what a Secret may not do, they may. */
function localConfig({ kubeconfig }: OperatorFlags): ConnectionConfig {
  if (kubeconfig === undefined) return ownPod();
  const reading = parseKubeconfig(readKubeconfig(kubeconfig), {
    allow: new Set(["insecure-tls", "proxy", "loopback"]),
  });
  if (reading.ok) return reading.connection;
  const problems = reading.problems.map(({ path, message }) => `  ${path}: ${message}`);
  throw new UsageError([`${kubeconfig} cannot be used:`, ...problems].join("\n"));
}

function ownPod(): ConnectionConfig {
  try {
    return inClusterConnection({ env: process.env, clock: systemClock });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${why}\nOutside a pod, give --kubeconfig FILE.`);
  }
}

function readKubeconfig(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageError(`cannot read '${file}'${codeOf(error)}; give --kubeconfig the path of a kubeconfig file`);
  }
}
