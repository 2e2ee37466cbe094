import { isIP, isIPv6 } from "node:net";
import { portOf } from "./host-port.ts";
import type { ConfiguredPeer, UnreadablePeer } from "./peer-entry.ts";

/** Where the API is served: a TCP port or a Unix socket. */
export type ListenTarget =
  | { readonly kind: "tcp"; readonly host: string; readonly port: number }
  | { readonly kind: "unix"; readonly path: string };

export const discoveryModes = ["none", "mdns", "kubernetes"] as const;
export type DiscoveryMode = (typeof discoveryModes)[number];

export const logLevels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof logLevels)[number];

export interface DiscoveryConfig {
  readonly mode: DiscoveryMode;
  /** Where the EndpointSlices are; absent: the pod's own namespace. */
  readonly namespace?: string;
  readonly labelSelector: string;
  readonly annotationPrefix: string;
  readonly intervalSeconds: number;
  /** Whether the own endpoint id is written to the own EndpointSlices. */
  readonly publishId: boolean;
  /** Absent: where the kubelet puts it. */
  readonly serviceAccountDir?: string;
  /** As the downward API gives it. Other members derive this node's identity from it. */
  readonly podName?: string;
}

/** How one mesh node is set up; read once, passed down. */
export interface NodeConfig {
  readonly listen: ListenTarget;
  readonly dataDir: string;
  readonly nodeId: string;
  readonly formationId: string;
  /** Empty: anyone who knows the formation id is a member. Secret. */
  readonly sharedKey: Uint8Array;
  readonly udp: { readonly ip: string; readonly port: number };
  readonly peers: readonly ConfiguredPeer[];
  readonly unreadablePeers: readonly UnreadablePeer[];
  readonly discovery: DiscoveryConfig;
  readonly logLevel: LogLevel;
}

/** `tcp://0.0.0.0:50051`, `tcp://[::1]:50051` or `unix:///run/mesh-node.sock`. */
export function parseListen(text: string): ListenTarget {
  const path = /^unix:\/\/(\/.*[^/])$/.exec(text)?.[1];
  if (path !== undefined) return { kind: "unix", path };
  const [, v6, name = "", digits = ""] = /^tcp:\/\/(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9.-]+)):(\d+)$/.exec(text) ?? [];
  const port = portOf(digits);
  const host = v6 ?? name;
  if (host === "" || port === undefined || (v6 !== undefined && !isIPv6(v6)))
    throw new Error("give tcp://HOST:PORT, tcp://[IPV6]:PORT or unix:///PATH");
  return { kind: "tcp", host, port };
}

export function formatListen(listen: ListenTarget): string {
  if (listen.kind === "unix") return `unix://${listen.path}`;
  return `tcp://${isIPv6(listen.host) ? `[${listen.host}]` : listen.host}:${listen.port}`;
}

export function parsePort(text: string): number {
  const port = portOf(text);
  if (port === undefined) throw new Error("give a port from 0 to 65535; 0 is any free one");
  return port;
}

export function parseIp(text: string): string {
  if (isIP(text) === 0) throw new Error("give an IP address, such as 0.0.0.0");
  return text;
}

const longestIntervalSeconds = 86_400;

export function parseInterval(text: string): number {
  const seconds = Number(text);
  if (!/^[1-9]\d*$/.test(text) || seconds > longestIntervalSeconds)
    throw new Error(`give whole seconds from 1 to ${longestIntervalSeconds}`);
  return seconds;
}

const dnsLabel = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

export function parseNamespace(text: string): string {
  if (!dnsLabel.test(text)) throw new Error("it is not the name of a namespace");
  return text;
}

export function parseText(text: string): string {
  if (text.trim() === "") throw new Error("it is empty");
  return text;
}

/** Standard base64 with its padding; an empty text is an empty key. The error never repeats the text: it is a secret. */
export function parseSharedKey(text: string): Uint8Array {
  const compact = text.trim();
  const bytes = Buffer.from(compact, "base64");
  if (bytes.toString("base64").replace(/=+$/, "") !== compact.replace(/=+$/, "")) throw new Error("it is not base64");
  return new Uint8Array(bytes);
}
