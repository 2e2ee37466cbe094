import { readFileSync } from "node:fs";
import { isIPv6 } from "node:net";
import { join } from "node:path";
import type { Clock } from "../runtime/clock.ts";
import type { ConnectionConfig, Token } from "./connection-config.ts";

const rereadAfterMs = 60_000;

export interface InClusterOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Where the kubelet puts the service account's files. */
  readonly directory?: string;
}

/** The connection of a pod to its own API server. Throws outside a pod. */
export function inClusterConnection(options: InClusterOptions): ConnectionConfig {
  const { env, clock, directory = "/var/run/secrets/kubernetes.io/serviceaccount" } = options;
  const host = env.KUBERNETES_SERVICE_HOST;
  const port = env.KUBERNETES_SERVICE_PORT;
  if (!host || !port) throw new Error("not in a pod: KUBERNETES_SERVICE_HOST or KUBERNETES_SERVICE_PORT is not set");
  return {
    server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    caPem: readText(join(directory, "ca.crt")),
    token: rotatingToken(join(directory, "token"), clock),
    compress: false,
  };
}

/** A token file that the kubelet replaces: read again once a minute, and at once on `refresh`. */
function rotatingToken(path: string, clock: Clock): Token {
  let token = readText(path).trim();
  let readAt = clock.now();
  return (refresh) => {
    if (!refresh && clock.now() - readAt < rereadAfterMs) return token;
    token = tryReadText(path)?.trim() || token;
    readAt = clock.now();
    return token;
  };
}

function readText(path: string): string {
  const text = tryReadText(path);
  if (!text) throw new Error(`not in a pod with a service account: ${path} cannot be read or is empty`);
  return text;
}

function tryReadText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
