import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command, Option } from "commander";
import { nodeAnnotations } from "../api/names.ts";
import { systemClock } from "../runtime/clock.ts";
import type { Fleet } from "../sandbox/fleet.ts";
import type { DemoResult } from "./demo-run.ts";
import { clusterCount, nodeCount, writeKubeconfigs } from "./sandbox.ts";
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
    .option("--clusters <n>", "how many", clusterCount, 3)
    .option("--nodes <n>", "nodes in each", nodeCount, 3)
    .addOption(new Option("-o, --output <format>", "of the summary").choices(["text", "json"]).default("text"))
    .action(run);
}

async function run(flags: Flags): Promise<void> {
  if (flags.clusters < 2) throw new UsageError("a mesh needs at least two clusters; give --clusters 2 or more");
  const signal = untilInterrupted();
  const directory = temporaryFolder();
  const { startFleet } = await import("../sandbox/fleet.ts");
  const fleet = await startFleet({ ...flags, clock: systemClock });
  try {
    await play(flags, { fleet, directory, signal });
  } finally {
    await fleet.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

function temporaryFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), "kilo-clustermesh-demo-"));
  } catch {
    throw new UsageError(`cannot make a folder in ${tmpdir()}; set TMPDIR to one that you may write to`);
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
    for (const text of invitation(files, flags.nodes)) terminal.line(text);
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

/** What a person may try while the demo runs, and what may surprise them then. */
export function invitation([local, remote]: readonly string[], nodes: number): string[] {
  const changes = [`annotate node cluster-b-1 ${anotherEndpoint}`, `delete node cluster-b-${nodes}`];
  return [
    "Look around in a second terminal, and see here what follows:",
    "",
    `  kubectl --kubeconfig ${local} get clustermesh -A`,
    `  kubectl --kubeconfig ${local} get peers`,
    ...(nodes > 0 ? changes : []).map((words) => `  kubectl --kubeconfig ${remote} ${words}`),
    "",
    "A node that is deleted may come back: its peers go half a minute later.",
    "LINKS stay at 0: they are WireGuard's handshakes, and no WireGuard runs here.",
    "Ctrl-C stops everything.",
    "",
  ];
}

const anotherEndpoint = `${nodeAnnotations.clustermeshEndpoint}=192.0.2.7:51820`;
