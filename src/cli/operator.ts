import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { Command, InvalidArgumentError, Option } from "commander";
import type { ConnectionConfig } from "../kube/connection-config.ts";
import { createClient } from "../kube/http-client.ts";
import { inClusterConnection } from "../kube/in-cluster.ts";
import { parseKubeconfig } from "../kube/kubeconfig.ts";
import { type OperatorConfig, parseLicences } from "../operator/config.ts";
import { runOperator } from "../operator/run-operator.ts";
import { systemClock } from "../runtime/clock.ts";
import { jsonLogger } from "../runtime/log.ts";
import { UsageError, untilInterrupted } from "./terminal.ts";
import { version } from "./version.ts";

interface Flags {
  readonly kubeconfig?: string;
  readonly leaderElect: boolean;
  readonly namespace: string;
  readonly instance: string;
  readonly kubeconfigAllow: OperatorConfig["allow"];
  readonly logLevel: "debug" | "info" | "warn" | "error";
}

export function operatorCommand(): Command {
  return new Command("operator")
    .description("Run the operator until it is stopped. In a pod it uses the pod's service account.")
    .option("--kubeconfig <file>", "kubeconfig of the local cluster, where the ClusterMesh objects are")
    .option("--leader-elect", "take the Lease first, so that only one operator writes", false)
    .addOption(new Option("--namespace <name>", "namespace of the Lease").env("POD_NAMESPACE").default("kilo-system"))
    .option("--instance <text>", "mark of this operator's Peers (default: made from the local cluster)", "")
    .addOption(
      new Option("--kubeconfig-allow <words>", "what kubeconfigs in Secrets may do: insecure-tls, proxy, loopback")
        .argParser(licencesFrom)
        .default(new Set(), "nothing"),
    )
    .addOption(
      new Option("--log-level <level>", "least level to log")
        .choices(["debug", "info", "warn", "error"])
        .default("info"),
    )
    .action(run);
}

function licencesFrom(text: string): OperatorConfig["allow"] {
  try {
    return parseLicences(text);
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
  }
}

async function run(flags: Flags): Promise<void> {
  const log = jsonLogger(flags.logLevel);
  const userAgent = `kilo-clustermesh-operator/${version}`;
  const client = createClient(localConfig(flags), { cluster: "local", userAgent });
  const identity = `${hostname()}_${randomUUID()}`;
  const config: OperatorConfig = {
    instance: flags.instance,
    allow: flags.kubeconfigAllow,
    leaderElection: flags.leaderElect && { namespace: flags.namespace, identity },
  };
  const connect = (cluster: string, remote: ConnectionConfig) => createClient(remote, { cluster, userAgent });
  try {
    await runOperator(config, { client, connect, clock: systemClock, log }, untilInterrupted());
  } finally {
    client.close();
  }
}

/** The operator's own credentials are its owner's: what a Secret may not do, they may. */
function localConfig({ kubeconfig }: Flags): ConnectionConfig {
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
  } catch {
    throw new UsageError(`cannot read ${file}; give --kubeconfig the path of a kubeconfig file`);
  }
}
