import { isIPv6 } from "node:net";

/** Host and port as a person writes them; the host may be a name. */
export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** `10.0.0.1:4000`, `[fd00::1]:4000` or `name:4000`; `undefined` when it is none. Port 0 can be dialed by nobody. */
export function parseHostPort(text: string): HostPort | undefined {
  const [, v6, name = "", digits = ""] = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9_.-]+)):(\d+)$/.exec(text) ?? [];
  const port = portOf(digits);
  const host = v6 ?? name;
  const isHost = v6 === undefined ? host !== "" && host.length <= 253 : isIPv6(v6);
  return isHost && port ? { host, port } : undefined;
}

export function formatHostPort({ host, port }: HostPort): string {
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

/** A port from 0 to 65535, or `undefined`. */
export function portOf(text: string): number | undefined {
  const port = Number(text);
  return /^(?:0|[1-9]\d{0,4})$/.test(text) && port <= 65_535 ? port : undefined;
}
