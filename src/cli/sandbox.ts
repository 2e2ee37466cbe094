import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { systemClock } from "../runtime/clock.ts";
import type { Fleet } from "../sandbox/fleet.ts";
import { fleetLimits } from "../sandbox/fleet-limits.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { codeOf, terminalOn, UsageError, untilInterrupted } from "./terminal.ts";

interface Flags {
  readonly clusters: number;
  readonly nodes: number;
  readonly dir: string;
}

export function sandboxCommand(): Command {
  return new Command("sandbox")
    .description("Serve Kubernetes clusters from this process, with Kilo's Peer type, until it is stopped.")
    .option("--clusters <n>", "how many", clusterCount, 2)
    .option("--nodes <n>", "nodes in each, annotated as Kilo annotates them", nodeCount, 0)
    .option("--dir <folder>", "where to write CLUSTER.kubeconfig", ".sandbox")
    .action(run);
}

export const clusterCount = (text: string): number => wholeNumber(text, 1, fleetLimits.clusters);
export const nodeCount = (text: string): number => wholeNumber(text, 0, fleetLimits.nodes);

function wholeNumber(text: string, least: number, most: number): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new InvalidArgumentError(`must be a whole number from ${least} to ${most}.`);
}

async function run({ clusters, nodes, dir }: Flags): Promise<void> {
  const signal = untilInterrupted();
  writing(dir, () => mkdirSync(dir, { recursive: true, mode: 0o700 }));
  const { startFleet } = await import("../sandbox/fleet.ts");
  const fleet = await startFleet({ clusters, nodes, clock: systemClock });
  try {
    announce(fleet, dir);
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  } finally {
    await fleet.stop();
  }
}

function announce({ sandbox }: Fleet, dir: string): void {
  const terminal = terminalOn(process.stdout);
  for (const file of writeKubeconfigs(sandbox, dir)) terminal.line(`kubectl --kubeconfig ${file} get nodes`);
  terminal.line("Ctrl-C stops them.");
}

/** Readable by their owner alone: they hold tokens. */
export function writeKubeconfigs(sandbox: Sandbox, dir: string): string[] {
  return sandbox.clusters.map((cluster) => {
    const file = join(dir, `${cluster.name}.kubeconfig`);
    writing(dir, () => writeFileSync(file, cluster.kubeconfig(), { mode: 0o600 }));
    return file;
  });
}

function writing(dir: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    throw new UsageError(`cannot write into the folder '${dir}'${codeOf(error)}; give --dir one that you may write to`);
  }
}
