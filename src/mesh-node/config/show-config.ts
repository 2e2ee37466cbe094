import { formatListen, type NodeConfig } from "./config.ts";
import { formatHostPort } from "./host-port.ts";

/** The config for people, in the words of the flags. The secret is told by its length alone. */
export function showConfig(config: NodeConfig): Readonly<Record<string, unknown>> {
  const { discovery, sharedKey, udp } = config;
  return {
    listen: formatListen(config.listen),
    "data-dir": config.dataDir,
    "node-id": config.nodeId,
    "app-id": config.formationId,
    "shared-key": sharedKey.length === 0 ? "none" : `redacted, ${sharedKey.length} bytes`,
    "iroh-udp-host": udp.ip,
    "iroh-udp-port": udp.port,
    peers: config.peers.map(({ id, addresses }) => `${id}@${addresses.map(formatHostPort).join("|")}`),
    "unreadable-peers": config.unreadablePeers,
    "discovery-mode": discovery.mode,
    "discovery-namespace": discovery.namespace ?? "the pod's own",
    "discovery-label-selector": discovery.labelSelector,
    "discovery-annotation-prefix": discovery.annotationPrefix,
    "discovery-interval": discovery.intervalSeconds,
    "discovery-publish-id": discovery.publishId,
    "service-account-dir": discovery.serviceAccountDir ?? "the kubelet's",
    "pod-name": discovery.podName ?? "none",
    "log-level": config.logLevel,
  };
}

export interface Remark {
  readonly level: "warn" | "error";
  readonly message: string;
  readonly fields?: Readonly<Record<string, unknown>>;
}

const shortKeyBytes = 16;

/** What a person should hear about this config before the node runs. None of it keeps the node from running. */
export function remarksOn(config: NodeConfig): Remark[] {
  return [...unreadablePeers(config), ...keyRemarks(config), ...kubernetesRemarks(config)];
}

function unreadablePeers({ unreadablePeers }: NodeConfig): Remark[] {
  return unreadablePeers.map((fields) => ({
    level: "error",
    message: "peer entry cannot be read",
    fields: { ...fields },
  }));
}

function keyRemarks({ sharedKey }: NodeConfig): Remark[] {
  if (sharedKey.length === 0)
    return [warn("no shared key: whoever knows the formation id may join, and the endpoint id changes at each start")];
  return sharedKey.length < shortKeyBytes ? [warn("shared key is short", { bytes: sharedKey.length })] : [];
}

function kubernetesRemarks({ discovery, sharedKey, udp }: NodeConfig): Remark[] {
  if (discovery.mode !== "kubernetes") return [];
  const remarks: Remark[] = [];
  if (discovery.podName === undefined && sharedKey.length > 0)
    remarks.push(warn("POD_NAME is not set: members cannot derive this node's endpoint id and will not dial it"));
  if (sharedKey.length === 0)
    remarks.push(warn("no shared key: members without an endpoint id annotation are skipped"));
  if (udp.port === 0) remarks.push(warn("the UDP port is any free one: members cannot know it; set --iroh-udp-port"));
  return remarks;
}

function warn(message: string, fields: Readonly<Record<string, unknown>> = {}): Remark {
  return { level: "warn", message, fields };
}
