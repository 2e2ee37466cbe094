import { Command, CommanderError } from "commander";
import { isKubeError, type KubeError, type KubeErrorKind } from "../kube/errors.ts";
import { ServeError } from "../operator/http.ts";
import { endWhenUnread } from "../runtime/unread.ts";
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
  endWhenUnread();
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

/** The one place where an error becomes text for a person. */
function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  if (error instanceof UsageError) return say(error.message, exitCodes.usage);
  if (isKubeError(error)) return say(withAdvice(error), exitCodes.failed);
  if (error instanceof ServeError) return say(error.message, exitCodes.failed);
  return say(error instanceof Error ? (error.stack ?? error.message) : String(error), exitCodes.failed);
}

const unanswered = "The API server does not answer: check the server address in the kubeconfig, and the network.";

const advice: Partial<Record<KubeErrorKind, string>> = {
  unreachable: unanswered,
  timeout: unanswered,
  unauthorized: "The API server refused the credentials: get a new kubeconfig.",
  forbidden: "The credentials lack this right; docs/guides/install.md lists all that are needed.",
};

/** The error and, where we know it, what to do next. */
function withAdvice({ kind, message }: KubeError): string {
  return [message, ...(advice[kind] ? [advice[kind]] : [])].join("\n");
}

function say(text: string, code: number): number {
  process.stderr.write(`error: ${text}\n`);
  return code;
}
