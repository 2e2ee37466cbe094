import { Command, CommanderError } from "commander";
import { isKubeError } from "../kube/errors.ts";
import { ServeError } from "../operator/http.ts";
import { withTwoDashes } from "./flag-words.ts";
import { UsageError } from "./terminal.ts";
import { version } from "./version.ts";

export const exitCodes = { ok: 0, failed: 1, usage: 2 } as const;

const helpHint = "(add --help for what is possible)";

/** A program of these commands, as `--help` shows it. */
export function programOf(commands: readonly Command[]): Command {
  const root = new Command("kilo-clustermesh")
    .description("Joins Kubernetes clusters into one encrypted network with Kilo and WireGuard.")
    .version(version, "-V, --version", "print the version")
    .showHelpAfterError(helpHint)
    .exitOverride();
  for (const command of commands) root.addCommand(command.exitOverride().showHelpAfterError(helpHint));
  root
    .command("version")
    .description("print the version")
    .action(() => console.log(version));
  return root;
}

/** Runs one command line; the number is the exit code. */
export async function runProgram(root: Command, words: readonly string[]): Promise<number> {
  process.stdout.on("error", endUnread);
  try {
    const [name, ...rest] = words;
    const command = root.commands.find((candidate) => candidate.name() === name);
    const all = command && name ? [name, ...withTwoDashes(command, rest)] : [...words];
    await root.parseAsync(all, { from: "user" });
    return typeof process.exitCode === "number" ? process.exitCode : exitCodes.ok;
  } catch (error) {
    return report(error);
  }
}

/** Who pipes into `head` has read enough: that is no failure. */
function endUnread(error: NodeJS.ErrnoException): never {
  if (error.code === "EPIPE") process.exit(exitCodes.ok);
  throw error;
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
