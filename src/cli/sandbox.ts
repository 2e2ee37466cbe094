import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { systemClock } from "../runtime/clock.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { terminalOn, untilInterrupted } from "./terminal.ts";

interface Flags {
  readonly clusters: number;
  readonly nodes: number;
  readonly dir: string;
}

export function sandboxCommand(): Command {
  return new Command("sandbox")
    .description("Serve Kubernetes clusters from this process, with Kilo's Peer type, until it is stopped.")
    .option("--clusters <n>", "how many", wholeNumber, 2)
    .option("--nodes <n>", "nodes in each, annotated as Kilo annotates them", wholeNumber, 0)
    .option("--dir <folder>", "where to write CLUSTER.kubeconfig", ".sandbox")
    .action(run);
}

export function wholeNumber(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 0) throw new InvalidArgumentError("must be a whole number.");
  return number;
}

async function run({ clusters, nodes, dir }: Flags): Promise<void> {
  const signal = untilInterrupted();
  const { startFleet } = await import("../sandbox/fleet.ts");
  const fleet = await startFleet({ clusters, nodes, clock: systemClock });
  const terminal = terminalOn(process.stdout);
  for (const file of writeKubeconfigs(fleet.sandbox, dir)) terminal.line(`kubectl --kubeconfig ${file} get nodes`);
  terminal.line("Ctrl-C stops them.");
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  await fleet.stop();
}

/** Readable by their owner alone: they hold tokens. */
export function writeKubeconfigs(sandbox: Sandbox, dir: string): string[] {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  return sandbox.clusters.map((cluster) => {
    const file = join(dir, `${cluster.name}.kubeconfig`);
    writeFileSync(file, cluster.kubeconfig(), { mode: 0o600 });
    return file;
  });
}
