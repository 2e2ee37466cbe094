import type { Command, Option } from "commander";
import { UsageError } from "./usage-error.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

const prefix = "PEAT_NODE_";

/** The name of a flag in the environment. Several peers have one variable. */
export function variableOf(long: string): string {
  return long === "--peer" ? `${prefix}PEERS` : prefix + long.slice(2).toUpperCase().replaceAll("-", "_");
}

/** Gives each flag that the command line does not have what the environment says. An empty variable says nothing. */
export function readEnvironment(command: Command, env: Environment): void {
  for (const option of command.options) {
    const name = option.attributeName();
    const text = env[variableOf(option.long ?? "")];
    if (!option.long || !text || command.getOptionValueSource(name) === "cli") continue;
    command.setOptionValueWithSource(name, parsedBy(option, text), "env");
  }
}

/** Variables that look like ours and mean nothing here. Those that Kubernetes makes for a Service are not meant. */
export function ignoredVariables(command: Command, env: Environment): string[] {
  const known = new Set(command.options.map(({ long }) => variableOf(long ?? "")));
  return Object.keys(env)
    .filter((name) => name.startsWith(prefix) && env[name] !== "" && !known.has(name))
    .filter((name) => !/^PEAT_NODE_(?:\w+_)?(?:SERVICE_(?:HOST|PORT)|PORT)(?:_|$)/.test(name))
    .sort();
}

function parsedBy(option: Option, text: string): unknown {
  try {
    return option.parseArg ? option.parseArg(text, undefined) : text;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${variableOf(option.long ?? "")} (${option.long}) has the invalid value '${text}'. ${why}`);
  }
}
