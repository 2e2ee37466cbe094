import { createHash } from "node:crypto";
import { fingerprintsIn } from "./pem.ts";

/** A bearer token, or where to ask for it. `refresh` asks for a newer one than was given last, if there is one. */
export type Token = string | ((refresh?: boolean) => string);

/** Everything needed to reach one Kubernetes API. */
export interface ConnectionConfig {
  /** `https://host[:port][/path]`, without a trailing slash. */
  readonly server: string;
  /** Absent: the public roots that Node trusts. */
  readonly caPem?: string;
  readonly certPem?: string;
  readonly keyPem?: string;
  readonly token?: Token;
  /** The name the server's certificate must carry, when it is not the host of `server`. */
  readonly serverName?: string;
  readonly insecureTls?: boolean;
  readonly proxyUrl?: string;
  /** Names that resolve to loopback or link-local addresses are refused at connect. */
  readonly refuseLoopback?: boolean;
  /** Ask for gzip: right for a cluster across a WAN, a waste next door. */
  readonly compress: boolean;
}

/**
 * The identity of a connection: equal for two configs that reach the same server in the same way with the same
 * credential. A token that rotates counts as one credential.
 */
export function connectionId(config: ConnectionConfig): string {
  const { server, caPem, certPem, keyPem, serverName, insecureTls, proxyUrl } = config;
  const token = typeof config.token === "function" ? ["rotating"] : config.token;
  const parts = [server, caPem, certPem, keyPem, token, serverName, insecureTls || undefined, proxyUrl];
  return createHash("sha256")
    .update(JSON.stringify(parts.map((part) => part ?? null)))
    .digest("hex");
}

/**
 * Who vouches for the server: equal only for configs of which none could be met by a server that the other refuses. Undefined
 * where nobody does.
 */
export function trustOf({ server, caPem, serverName, insecureTls }: ConnectionConfig): string | undefined {
  if (insecureTls) return undefined;
  return caPem === undefined ? `public ${serverName ?? new URL(server).hostname}` : fingerprintsIn(caPem).join(" ");
}
