import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { type DiscoveryConfig, type NodeConfig, parseSharedKey } from "./config.ts";
import { type Environment, readEnvironment } from "./flag-words.ts";
import type { NodeFlags } from "./flags.ts";
import { parsePeers } from "./peer-entry.ts";
import { UsageError } from "./usage-error.ts";

/** What the command line and the environment come to. Throws a `UsageError` for what cannot be meant. */
export function readConfig(command: Command, env: Environment): NodeConfig {
  readEnvironment(command, env);
  const flags: NodeFlags = command.opts();
  const podName = env.POD_NAME || undefined;
  const { peers, unreadable } = parsePeers(flags.peer);
  return {
    listen: flags.listen,
    dataDir: flags.dataDir,
    nodeId: flags.nodeId ?? podName ?? randomUUID(),
    formationId: flags.appId,
    sharedKey: readSharedKey(command),
    udp: { ip: flags.irohUdpHost, port: flags.irohUdpPort },
    peers,
    unreadablePeers: unreadable,
    discovery: discoveryOf(flags, podName),
    logLevel: flags.logLevel,
  };
}

/** The secret of `--shared-key` or `--shared-key-file`, whichever is given; the command line wins. Empty when none is. */
export function readSharedKey(command: Command): Uint8Array {
  const { sharedKey, sharedKeyFile } = command.opts<Pick<NodeFlags, "sharedKey" | "sharedKeyFile">>();
  const textFrom = command.getOptionValueSource("sharedKey");
  const fileFrom = command.getOptionValueSource("sharedKeyFile");
  if (sharedKey !== undefined && sharedKeyFile !== undefined && textFrom === fileFrom)
    throw new UsageError("give --shared-key or --shared-key-file, not both");
  if (sharedKeyFile !== undefined && textFrom !== "cli") return keyInFile(sharedKeyFile);
  return keyIn(sharedKey ?? "", "--shared-key");
}

function keyInFile(path: string): Uint8Array {
  const key = keyIn(readText(path), `the file ${path} of --shared-key-file`);
  if (key.length === 0) throw new UsageError(`the file ${path} of --shared-key-file is empty`);
  return key;
}

function keyIn(text: string, where: string): Uint8Array {
  try {
    return parseSharedKey(text);
  } catch {
    throw new UsageError(`${where} is not base64; make a key with: head -c 32 /dev/urandom | base64`);
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    throw new UsageError(`cannot read ${path}; give --shared-key-file the path of a file with the key in base64`);
  }
}

function discoveryOf(flags: NodeFlags, podName: string | undefined): DiscoveryConfig {
  return {
    mode: flags.discoveryMode,
    ...(flags.discoveryNamespace !== undefined && { namespace: flags.discoveryNamespace }),
    labelSelector: flags.discoveryLabelSelector,
    annotationPrefix: flags.discoveryAnnotationPrefix,
    intervalSeconds: flags.discoveryInterval,
    publishId: flags.discoveryPublishId,
    ...(flags.serviceAccountDir !== undefined && { serviceAccountDir: flags.serviceAccountDir }),
    ...(podName !== undefined && { podName }),
  };
}
