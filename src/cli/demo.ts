import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command, Option } from "commander";
import { systemClock } from "../runtime/clock.ts";
import type { Fleet } from "../sandbox/fleet.ts";
import type { DemoResult } from "./demo-run.ts";
import { wholeNumber, writeKubeconfigs } from "./sandbox.ts";
import { table } from "./table.ts";
import { type Terminal, terminalOn, UsageError, untilInterrupted } from "./terminal.ts";

interface Flags {
  readonly once: boolean;
  readonly clusters: number;
  readonly nodes: number;
  readonly output: "text" | "json";
}

export function demoCommand(): Command {
  return new Command("demo")
    .description("Watch it work: embedded clusters, the operator and a ClusterMesh, all in this process.")
    .option("--once", "end when the mesh is ready", false)
    .option("--clusters <n>", "how many", wholeNumber, 3)
    .option("--nodes <n>", "nodes in each", wholeNumber, 3)
    .addOption(new Option("-o, --output <format>", "of the summary").choices(["text", "json"]).default("text"))
    .action(run);
}

async function run(flags: Flags): Promise<void> {
  if (flags.clusters < 2) throw new UsageError("a mesh needs at least two clusters; give --clusters 2 or more");
  const signal = untilInterrupted();
  const directory = mkdtempSync(join(tmpdir(), "kilo-clustermesh-demo-"));
  const { startFleet } = await import("../sandbox/fleet.ts");
  const fleet = await startFleet({ ...flags, clock: systemClock });
  try {
    await play(flags, { fleet, directory, signal });
  } finally {
    await fleet.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

interface Stage {
  readonly fleet: Fleet;
  readonly directory: string;
  readonly signal: AbortSignal;
}

async function play(flags: Flags, { fleet, directory, signal }: Stage): Promise<void> {
  const { startDemo } = await import("./demo-run.ts");
  const terminal = terminalOn(flags.output === "json" ? process.stderr : process.stdout);
  const files = writeKubeconfigs(fleet.sandbox, directory);
  terminal.line(
    `${fleet.sandbox.clusters.map(({ name }) => name).join(", ")} serve the Kubernetes API on this machine.`,
  );
  const demo = startDemo(fleet.sandbox, terminal, signal);
  try {
    const summary = await demo.ready;
    if (signal.aborted) return;
    if (flags.output === "json") console.log(JSON.stringify(summary, undefined, 2));
    else conclude(terminal, summary);
    process.exitCode = summary.ready ? 0 : 1;
    if (flags.once) return;
    invite(terminal, files);
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  } finally {
    await demo.stop();
  }
}

function conclude(terminal: Terminal, { ready, seconds, clusters }: DemoResult): void {
  terminal.line();
  terminal.line(
    table(
      ["CLUSTER", "NODES", "PEERS"],
      clusters.map(({ name, nodes, peers }) => [name, nodes, peers]),
    ),
  );
  terminal.line();
  const verdict = ready
    ? terminal.styled("green", "The mesh is ready")
    : terminal.styled("red", "The mesh is not ready");
  terminal.line(`${verdict} after ${seconds} s.`);
}

function invite(terminal: Terminal, [local, remote]: readonly string[]): void {
  terminal.line("Look around in a second terminal, and see here what follows:");
  terminal.line();
  terminal.line(`  kubectl --kubeconfig ${local} get clustermesh -A`);
  terminal.line(`  kubectl --kubeconfig ${local} get peers`);
  terminal.line(`  kubectl --kubeconfig ${remote} delete node cluster-b-3`);
  terminal.line();
  terminal.line("Ctrl-C stops everything.");
  terminal.line();
}
