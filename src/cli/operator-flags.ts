import { type Command, InvalidArgumentError, Option } from "commander";
import type { Cidr } from "../core/cidr.ts";
import {
  type OperatorConfig,
  parseCidrs,
  parseInstance,
  parseKeepalive,
  parseLicences,
  parseNamespaces,
} from "../operator/config.ts";
import { type ListenAddress, parseListenAddress } from "../runtime/http-server.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";

/** The operator's command line, every value parsed. */
export interface OperatorFlags {
  readonly kubeconfig?: string;
  readonly leaderElect: boolean;
  readonly namespace?: string;
  readonly instance: string;
  readonly installCrd: boolean;
  readonly logLevel?: LogLevel;
  readonly zapLogLevel?: LogLevel;
  readonly kubeconfigAllow: OperatorConfig["allow"];
  readonly allowedCidr: OperatorConfig["allowedCidrs"];
  readonly localNamespaces: OperatorConfig["localNamespaces"];
  readonly legacyOrphans: OperatorConfig["legacyOrphans"];
  readonly nodeKeepalive: number;
  readonly healthProbeBindAddress: ListenAddress | "off";
  readonly metricsBindAddress: ListenAddress | "off";
  readonly metricsSecure?: boolean;
  readonly metricsCertPath?: string;
  readonly metricsCertName: string;
  readonly metricsCertKey: string;
}

/** Flags of the Go operator that mean nothing here, so that its arguments can stay as they are. */
const ignoredFlags = [
  "--enable-http2 [bool]",
  "--webhook-cert-path <path>",
  "--webhook-cert-name <name>",
  "--webhook-cert-key <name>",
  "--zap-devel [bool]",
  "--zap-encoder <name>",
  "--zap-stacktrace-level <level>",
  "--zap-time-encoding <name>",
] as const;

/** Gives the command its flags, in groups. */
export function addOperatorFlags(command: Command): Command {
  for (const [heading, options] of Object.entries(groups()))
    for (const option of options) command.addOption(option.helpGroup(`${heading}:`));
  for (const text of ignoredFlags) command.addOption(new Option(text).hideHelp());
  command.addHelpOption(new Option("-h, --help", "show this").helpGroup("Help:"));
  return command.addHelpText("after", afterHelp);
}

/** The names of the ignored flags that somebody gave. */
export function ignoredOf(command: Command): string[] {
  return command.options
    .filter(({ flags }) => ignoredFlags.some((text) => text === flags))
    .filter((option) => command.getOptionValueSource(option.attributeName()) !== undefined)
    .map(({ long }) => long ?? "");
}

const afterHelp = `
Every flag may also be given in the environment: KILO_CLUSTERMESH_ and its name
in capitals, as in KILO_CLUSTERMESH_LOG_LEVEL=debug. The command line wins.

Flags may have one dash or two, as in Go.
${wrapped(`Without effect, accepted for the Go operator's sake: ${ignoredNames().join(", ")}.`)}`;

function ignoredNames(): string[] {
  return ignoredFlags.map((text) => text.replace(/ .*/, ""));
}

function wrapped(text: string, width = 80): string {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? "";
    if (line !== "" && line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines.join("\n");
}

function groups(): Readonly<Record<string, readonly Option[]>> {
  return {
    "The operator itself": generalOptions(),
    "What meshes may do": permissionOptions(),
    "What it does": behaviourOptions(),
    "Probes and metrics (:PORT, HOST:PORT, or 0 for none)": servingOptions(),
  };
}

function generalOptions(): Option[] {
  return [
    new Option("--kubeconfig <file>", "kubeconfig of the local cluster, where the ClusterMesh objects are"),
    flag("--leader-elect", "take the Lease first, so that only one operator writes").default(false),
    new Option("--namespace <name>", "where the Lease is (default: POD_NAMESPACE, else kilo-system)"),
    option("--instance <text>", "mark of this operator's Peers", parseInstance).default("", "made from the cluster"),
    new Option("--log-level <level>", "least level to log (default: info)").choices(["debug", "info", "warn", "error"]),
    option("--zap-log-level <level>", "the same in the Go operator's words", parseZapLevel),
  ];
}

function permissionOptions(): Option[] {
  return [
    option(
      "--kubeconfig-allow <words>",
      "what kubeconfigs in Secrets may do: insecure-tls, proxy, loopback",
      parseLicences,
    ).default(new Set(), "nothing"),
    listOption(
      "--allowed-cidr <networks>",
      "the only networks that meshes may declare and nodes may bring",
      parseCidrs,
    ).default([], "any"),
    option("--local-namespaces <names>", "whose meshes may name the local cluster", parseNamespaces).default(
      new Set(),
      "all",
    ),
  ];
}

function behaviourOptions(): Option[] {
  return [
    flag("--install-crd", "write the definition of ClusterMesh; if false, wait for it to be there").default(true),
    new Option("--legacy-orphans <what>", "what to do with the Go operator's Peers that belong to no mesh")
      .choices(["delete", "report"])
      .default("delete"),
    option("--node-keepalive <seconds>", "Kilo's keepalive for the nodes of every mesh", parseKeepalive).default(
      0,
      "as each mesh says",
    ),
  ];
}

function servingOptions(): Option[] {
  return [
    option("--health-probe-bind-address <addr>", "serves /healthz and /readyz", parseListenAddress).default(
      parseListenAddress(":8081"),
      ":8081",
    ),
    option("--metrics-bind-address <addr>", "serves /metrics", parseListenAddress).default("off", "0"),
    flag("--metrics-secure", "serve metrics by HTTPS; needs --metrics-cert-path"),
    new Option("--metrics-cert-path <folder>", "where the certificate for metrics is"),
    new Option("--metrics-cert-name <file>", "of the certificate in it").default("tls.crt"),
    new Option("--metrics-cert-key <file>", "of its key in it").default("tls.key"),
  ];
}

/** Given alone, or with a value as Go takes it: `--leader-elect`, `--leader-elect=false`. */
function flag(name: string, help: string): Option {
  return option(`${name} [bool]`, help, parseBool);
}

function option<T>(flags: string, help: string, parse: (text: string) => T): Option {
  return new Option(flags, help).argParser((text) => parsed(text, parse));
}

/** May be given more than once; what is given adds up. */
function listOption(flags: string, help: string, parse: (text: string) => Cidr[]): Option {
  return new Option(flags, help).argParser((text, before: readonly Cidr[] = []) => [...before, ...parsed(text, parse)]);
}

function parsed<T>(text: string, parse: (text: string) => T): T {
  try {
    return parse(text);
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
  }
}

function parseBool(text: string): boolean {
  if (["1", "t", "T", "true", "TRUE", "True"].includes(text)) return true;
  if (["0", "f", "F", "false", "FALSE", "False"].includes(text)) return false;
  throw new Error("give true or false");
}

/** zap's names in any case, or a number: the higher, the more is logged. */
function parseZapLevel(word: string): LogLevel {
  const text = word.toLowerCase();
  if (text === "debug" || text === "info" || text === "warn" || text === "error") return text;
  if (text === "dpanic" || text === "panic" || text === "fatal") return "error";
  if (/^[1-9]\d{0,2}$/.test(text)) return "debug";
  throw new Error("give debug, info, warn, error, panic, or a number from 1");
}
