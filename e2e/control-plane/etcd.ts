import { join } from "node:path";
import { binary } from "./binaries.ts";
import { freePort } from "./free-port.ts";
import { type Server, startServer } from "./start-server.ts";
import type { Order } from "./supervised.ts";

export interface EtcdOptions {
  readonly folder: string;
  readonly address: string;
  /** Whether the folder is removed when etcd was stopped. */
  readonly temporary: boolean;
}

/** One etcd that trusts the disk never to fail: fast, and its data is for one run only. */
export function startEtcd(options: EtcdOptions): Promise<Server> {
  const { address } = options;
  return startServer({
    address,
    order: async (port) => orderOf(options, port),
    isReady: (port) => isHealthy(`http://${address}:${port}`),
  });
}

async function orderOf(options: EtcdOptions, port: number): Promise<Order> {
  const { folder, address, temporary } = options;
  const client = `http://${address}:${port}`;
  const peer = `http://${address}:${await freePort(address)}`;
  const flags = {
    name: "etcd",
    "data-dir": join(folder, `etcd-${port}`),
    "listen-client-urls": client,
    "advertise-client-urls": client,
    "listen-peer-urls": peer,
    "initial-advertise-peer-urls": peer,
    "initial-cluster": `etcd=${peer}`,
    "log-level": "warn",
  };
  return {
    command: binary("etcd"),
    args: ["--unsafe-no-fsync", ...Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`)],
    logFile: join(folder, "etcd.log"),
    graceMs: 1_000,
    ...(temporary ? { removeAtEnd: folder } : {}),
  };
}

async function isHealthy(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/health`, { signal: AbortSignal.timeout(2_000) });
    return answer.ok && (await answer.text()).includes("true");
  } catch {
    return false;
  }
}
