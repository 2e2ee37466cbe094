import { Command, CommanderError } from "commander";
import { isKubeError } from "../kube/errors.ts";
import { ServeError } from "../operator/http.ts";
import { demoCommand } from "./demo.ts";
import { withTwoDashes } from "./flag-words.ts";
import { operatorCommand } from "./operator.ts";
import { sandboxCommand } from "./sandbox.ts";
import { UsageError } from "./terminal.ts";
import { version } from "./version.ts";

export const exitCodes = { ok: 0, failed: 1, usage: 2 } as const;

/** Runs one command line; the number is the exit code. */
export async function main(words: readonly string[]): Promise<number> {
  try {
    const root = program();
    const [name, ...rest] = words;
    const command = root.commands.find((candidate) => candidate.name() === name);
    const all = command && name ? [name, ...withTwoDashes(command, rest)] : [...words];
    await root.parseAsync(all, { from: "user" });
    return typeof process.exitCode === "number" ? process.exitCode : exitCodes.ok;
  } catch (error) {
    return report(error);
  }
}

/** Every command, as `--help` shows it. */
export function program(): Command {
  const root = new Command("kilo-clustermesh")
    .description("Joins Kubernetes clusters into one encrypted network with Kilo and WireGuard.")
    .version(version, "-V, --version", "print the version")
    .showHelpAfterError("(add --help for what is possible)")
    .exitOverride();
  for (const command of [demoCommand(), sandboxCommand(), operatorCommand()]) {
    root.addCommand(command.exitOverride().showHelpAfterError("(add --help for what is possible)"));
  }
  root
    .command("version")
    .description("print the version")
    .action(() => console.log(version));
  return root;
}

/** The one place where an error becomes text for a person. */
function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  if (error instanceof UsageError) return say(error.message, exitCodes.usage);
  if (isKubeError(error) || error instanceof ServeError) return say(error.message, exitCodes.failed);
  return say(error instanceof Error ? (error.stack ?? error.message) : String(error), exitCodes.failed);
}

function say(text: string, code: number): number {
  process.stderr.write(`error: ${text}\n`);
  return code;
}
