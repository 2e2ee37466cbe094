import { type Command, InvalidArgumentError, Option } from "commander";
import {
  type DiscoveryMode,
  discoveryModes,
  type ListenTarget,
  type LogLevel,
  logLevels,
  parseInterval,
  parseIp,
  parseListen,
  parseNamespace,
  parsePort,
  parseText,
} from "./config.ts";

/** The command line of a mesh node, every value parsed but the secret one, which no error text may repeat. */
export interface NodeFlags {
  readonly listen: ListenTarget;
  readonly dataDir: string;
  readonly nodeId?: string;
  readonly appId: string;
  readonly sharedKey?: string;
  readonly sharedKeyFile?: string;
  readonly peer: readonly string[];
  readonly irohUdpPort: number;
  readonly irohUdpHost: string;
  readonly discoveryMode: DiscoveryMode;
  readonly discoveryNamespace?: string;
  readonly discoveryLabelSelector: string;
  readonly discoveryAnnotationPrefix: string;
  readonly discoveryInterval: number;
  readonly discoveryPublishId: boolean;
  readonly serviceAccountDir?: string;
  readonly logLevel: LogLevel;
  readonly printConfig: boolean;
}

/** Gives the command its flags, in groups. */
export function addNodeFlags(command: Command): Command {
  for (const [heading, options] of Object.entries(groups()))
    for (const option of options) command.addOption(option.helpGroup(`${heading}:`));
  command.addHelpOption(new Option("-h, --help", "show this").helpGroup("Help:"));
  return command.addHelpText("after", afterHelp);
}

/** The two ways to give the secret that all members of a formation share. */
export function keyOptions(): Option[] {
  return [
    new Option("--shared-key <base64>", "the formation's secret; better in a file"),
    option("--shared-key-file <path>", "the file that has it", parseText),
  ];
}

export function nodeIdOption(help: string): Option {
  return option("--node-id <name>", help, parseText);
}

const afterHelp = `
Every flag may also be given in the environment: PEAT_NODE_ and its name in
capitals, as in PEAT_NODE_DISCOVERY_MODE=kubernetes; --peer is PEAT_NODE_PEERS.
The command line wins, and an empty variable counts as none. POD_NAME is the
name of the pod.`;

function groups(): Readonly<Record<string, readonly Option[]>> {
  return {
    "The node": nodeOptions(),
    "Who may be a peer": formationOptions(),
    "How peers are found": discoveryOptions(),
    Information: informationOptions(),
  };
}

function nodeOptions(): Option[] {
  return [
    option("--listen <address>", "serves the API: tcp://HOST:PORT or unix:///PATH", parseListen).default(
      parseListen("tcp://0.0.0.0:50051"),
      "tcp://0.0.0.0:50051",
    ),
    option("--data-dir <folder>", "where the documents are", parseText).default("/data/peat-node"),
    nodeIdOption("name of this node (default: POD_NAME, else a new one at each start)"),
    option("--iroh-udp-port <port>", "UDP port for peers; 0 is any", parsePort).default(0),
    option("--iroh-udp-host <ip>", "address to have it on", parseIp).default("0.0.0.0"),
  ];
}

function formationOptions(): Option[] {
  return [
    option("--app-id <name>", "the formation: only nodes of the same one link", parseText).default("peat-default"),
    ...keyOptions(),
    new Option("--peer <id@host:port>", "a peer to link to; may be repeated, or a list with commas")
      .argParser((text, before: readonly string[] | undefined) => [...(before ?? []), text])
      .default([], "none"),
  ];
}

function discoveryOptions(): Option[] {
  return [
    new Option("--discovery-mode <mode>", "besides --peer").choices(discoveryModes).default("none"),
    option("--discovery-namespace <name>", "of the EndpointSlices (default: the pod's own)", parseNamespace),
    option("--discovery-label-selector <selector>", "which EndpointSlices", parseText).default("app=peat-node"),
    option("--discovery-annotation-prefix <prefix>", "of the annotations that are ours", parseText).default("peat."),
    option("--discovery-interval <seconds>", "look at everything anew so often", parseInterval).default(30),
    option("--discovery-publish-id [bool]", "annotate the own slices with the own id", parseBool).default(false),
    option("--service-account-dir <folder>", "token and CA for it (default: where the kubelet puts them)", parseText),
  ];
}

function informationOptions(): Option[] {
  return [
    new Option("--log-level <level>", "least level to log").choices(logLevels).default("info"),
    option("--print-config [bool]", "print what the flags come to, without secrets, and end", parseBool).default(false),
  ];
}

function option<T>(flags: string, help: string, parse: (text: string) => T): Option {
  return new Option(flags, help).argParser((text) => parsed(text, parse));
}

function parsed<T>(text: string, parse: (text: string) => T): T {
  try {
    return parse(text);
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
  }
}

function parseBool(text: string): boolean {
  if (["1", "true", "TRUE", "True"].includes(text)) return true;
  if (["0", "false", "FALSE", "False"].includes(text)) return false;
  throw new Error("give true or false");
}
