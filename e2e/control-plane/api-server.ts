import { generateKeyPairSync } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { isIPv4 } from "node:net";
import { join } from "node:path";
import { auditPolicy } from "./audit.ts";
import { type Access, ask } from "./request.ts";
import type { ServerPlan } from "./start-server.ts";

export interface ApiServerOptions {
  readonly program: string;
  readonly folder: string;
  readonly address: string;
  readonly etcdUrl: string;
  /** Where this server's data lives in the shared etcd. */
  readonly etcdPrefix: string;
  readonly adminToken: string;
  readonly audit: boolean;
  readonly flags: readonly string[];
}

export function auditFileOf(folder: string): string {
  return join(folder, "audit.log");
}

export function serviceAccountKeyOf(folder: string): string {
  return join(folder, "service-account.key");
}

/** Writes the files a server needs before its first start. */
export async function prepareApiServer(options: ApiServerOptions): Promise<void> {
  const { folder, adminToken } = options;
  await mkdir(folder, { recursive: true });
  const keys = generateKeyPairSync("ec", {
    namedCurve: "P-256",
    privateKeyEncoding: { type: "sec1", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });
  await writeFile(serviceAccountKeyOf(folder), keys.privateKey, { mode: 0o600 });
  await writeFile(join(folder, "service-account.pub"), keys.publicKey);
  await writeFile(join(folder, "tokens.csv"), `${adminToken},admin,admin,system:masters\n`, { mode: 0o600 });
  await writeFile(join(folder, "audit-policy.json"), auditPolicy);
}

export function apiServerPlan(options: ApiServerOptions): ServerPlan {
  return {
    address: options.address,
    order: async (port) => ({
      command: options.program,
      args: argsOf(options, port),
      logFile: join(options.folder, "kube-apiserver.log"),
      graceMs: 3_000,
    }),
    isReady: (port) => isReady(options, port),
  };
}

export function urlOf(address: string, port: number): string {
  return `https://${isIPv4(address) ? address : `[${address}]`}:${port}`;
}

/** The server signs its own certificate at its first start and appends the authority that signed it. */
export async function caOf(folder: string): Promise<string> {
  const pem = await readFile(join(folder, "certificates", "apiserver.crt"), "utf8");
  const authority = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n/g)?.[1];
  if (!authority) throw new Error("the server's certificate file holds no authority");
  return authority;
}

function argsOf(options: ApiServerOptions, port: number): string[] {
  const { folder, address } = options;
  const flags = {
    "etcd-servers": options.etcdUrl,
    "etcd-prefix": options.etcdPrefix,
    "secure-port": String(port),
    "bind-address": address,
    // Stands in the `kubernetes` EndpointSlice, where a loopback address is refused. Nobody connects to it.
    "advertise-address": address.startsWith("127.") ? "192.0.2.1" : address,
    "cert-dir": join(folder, "certificates"),
    "service-cluster-ip-range": "10.96.0.0/16",
    "service-account-issuer": "https://kubernetes.default.svc",
    "service-account-key-file": join(folder, "service-account.pub"),
    "service-account-signing-key-file": serviceAccountKeyOf(folder),
    "token-auth-file": join(folder, "tokens.csv"),
    "authorization-mode": "RBAC",
    "disable-admission-plugins": "ServiceAccount",
    ...(options.audit ? auditFlags(folder) : {}),
  };
  return [...Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`), ...options.flags];
}

function auditFlags(folder: string): Record<string, string> {
  return {
    "audit-policy-file": join(folder, "audit-policy.json"),
    "audit-log-path": auditFileOf(folder),
    "audit-log-mode": "blocking",
    // One file for the whole run: a rotated log would lose requests.
    "audit-log-maxsize": "10000",
  };
}

async function isReady(options: ApiServerOptions, port: number): Promise<boolean> {
  try {
    const access: Access = {
      url: urlOf(options.address, port),
      caPem: await caOf(options.folder),
      token: options.adminToken,
    };
    // The system namespaces are made after the server says that it is ready.
    for (const path of ["/readyz", "/api/v1/namespaces/default", "/api/v1/namespaces/kube-system"]) {
      const answer = await ask(access, { path, timeoutMs: 5_000 });
      if (answer.status !== 200) return false;
    }
    return true;
  } catch {
    return false;
  }
}
