import { Command, CommanderError } from "commander";
import { ListenError } from "../runtime/http-server.ts";
import { jsonLogger } from "../runtime/log.ts";
import { endWhenUnread } from "../runtime/unread.ts";
import type { NodeConfig } from "./config/config.ts";
import { type Environment, ignoredVariables, readEnvironment } from "./config/flag-words.ts";
import { addNodeFlags, keyOptions, type NodeFlags, nodeIdOption } from "./config/flags.ts";
import { readConfig, readSharedKey } from "./config/read-config.ts";
import { remarksOn, showConfig } from "./config/show-config.ts";
import { UsageError } from "./config/usage-error.ts";
import { DocumentError } from "./documents/documents.ts";
import { deriveEndpointId } from "./identity.ts";
import { StartError } from "./start-error.ts";
import { version } from "./version.ts";

export const exitCodes = { ok: 0, failed: 1, usage: 2 } as const;

/** Runs one command line; the number is the exit code. */
export async function main(words: readonly string[], env: Environment = process.env): Promise<number> {
  endWhenUnread();
  try {
    await program(env).parseAsync([...words], { from: "user" });
    return exitCodes.ok;
  } catch (error) {
    return report(error);
  }
}

/** The command and its subcommand, as `--help` shows them. */
export function program(env: Environment): Command {
  const root = new Command("mesh-node")
    .description("Finds the other nodes of its formation, links to them and keeps documents in sync.")
    .version(version, "-V, --version", "print the version")
    .showHelpAfterError("(add --help for what is possible)")
    .configureHelp({ minWidthToWrap: 30 })
    .enablePositionalOptions()
    .exitOverride();
  addNodeFlags(root).action(() => run(root, env));
  return root.addCommand(deriveId(env).exitOverride());
}

async function run(command: Command, env: Environment): Promise<void> {
  const config = readConfig(command, env);
  if (command.opts<NodeFlags>().printConfig) return print(config);
  const log = jsonLogger(config.logLevel);
  log.info("mesh node starting", { version, ...showConfig(config) });
  const ignored = ignoredVariables(command, env);
  if (ignored.length > 0) log.warn("environment variables ignored", { names: ignored });
  for (const { level, message, fields } of remarksOn(config)) log[level](message, fields);
  const { runNode } = await import("./run-node.ts");
  await runNode(config, { env, log }, untilInterrupted());
}

function print(config: NodeConfig): void {
  process.stdout.write(`${JSON.stringify(showConfig(config), null, 2)}\n`);
}

function deriveId(env: Environment): Command {
  const command = new Command("derive-id")
    .description("Print the endpoint id that a node of this name has in a formation with this secret.")
    .showHelpAfterError("(add --help for what is possible)");
  for (const option of [...keyOptions(), nodeIdOption("name of the node, or of its pod")]) command.addOption(option);
  return command.action(() => {
    readEnvironment(command, env);
    const { nodeId } = command.opts<Pick<NodeFlags, "nodeId">>();
    const key = readSharedKey(command);
    if (nodeId === undefined) throw new UsageError("give --node-id");
    if (key.length === 0) throw new UsageError("give --shared-key or --shared-key-file: without it no id is derived");
    process.stdout.write(`${deriveEndpointId(key, nodeId)}\n`);
  });
}

/** Aborts at the first Ctrl-C or SIGTERM; a second one ends the process at once. */
function untilInterrupted(): AbortSignal {
  const controller = new AbortController();
  const stop = (): void => {
    if (controller.signal.aborted) process.exit(130);
    controller.abort();
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  return controller.signal;
}

/** The one place where an error becomes text for a person. */
function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  if (error instanceof UsageError) return say(error.message, exitCodes.usage);
  if (error instanceof ListenError) return say(`${error.message}; give --listen another`, exitCodes.failed);
  if (error instanceof StartError || error instanceof DocumentError) return say(error.message, exitCodes.failed);
  return say(error instanceof Error ? (error.stack ?? error.message) : String(error), exitCodes.failed);
}

function say(text: string, code: number): number {
  process.stderr.write(`error: ${text}\n`);
  return code;
}
