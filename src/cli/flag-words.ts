import type { Command } from "commander";
import { UsageError } from "./terminal.ts";

/** Go's flags have one dash or two; a word like `-leader-elect` is meant as `--leader-elect`. */
export function withTwoDashes(command: Command, words: readonly string[]): string[] {
  const names = new Set(command.options.map(({ long }) => long));
  const end = words.indexOf("--");
  return words.map((word, index) => {
    const [, name] = /^-([a-z][a-z0-9-]+)(?:=|$)/.exec(word) ?? [];
    const isFlag = name !== undefined && names.has(`--${name}`) && (end < 0 || index < end);
    return isFlag ? `-${word}` : word;
  });
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** The name of a flag in the environment. */
export function variableOf(long: string): string {
  return `KILO_CLUSTERMESH_${long.slice(2).toUpperCase().replaceAll("-", "_")}`;
}

/** Gives each flag that the command line does not have what the environment says. An empty variable says nothing. */
export function readEnvironment(command: Command, env: Environment): void {
  for (const option of command.options) {
    const { long, parseArg } = option;
    const name = option.attributeName();
    const variable = variableOf(long ?? "");
    const text = env[variable];
    if (!long || !text || command.getOptionValueSource(name) === "cli") continue;
    try {
      command.setOptionValueWithSource(name, parseArg ? parseArg(text, undefined) : text, "env");
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new UsageError(`the environment variable ${variable} has the invalid value '${text}'. ${why}`);
    }
  }
}
