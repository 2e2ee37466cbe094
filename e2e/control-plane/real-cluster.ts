import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type ApiServerOptions,
  apiServerPlan,
  auditFileOf,
  caOf,
  prepareApiServer,
  serviceAccountKeyOf,
  urlOf,
} from "./api-server.ts";
import { type AuditEntry, readAuditLog } from "./audit.ts";
import { startControllerManager } from "./controller-manager.ts";
import { kubeconfigOf } from "./kubeconfig.ts";
import { type Access, type Answer, ask, askFor, type Call, harnessAgent } from "./request.ts";
import { type ScopedAccess, scopedKubeconfig } from "./scoped-access.ts";
import { type Server, startServer } from "./start-server.ts";
import type { Supervised } from "./supervised.ts";

export interface RealClusterOptions extends ApiServerOptions {
  readonly name: string;
  readonly controllerManager: boolean;
}

/** A Kubernetes API server of its own, with its own data. There are no nodes: a test writes the ones it needs. */
export class RealCluster {
  readonly name: string;
  /** Logs and keys of this cluster. */
  readonly folder: string;
  readonly url: string;
  readonly caPem: string;
  readonly adminToken: string;
  readonly adminKubeconfig: string;
  readonly kubeconfigFile: string;
  readonly #options: RealClusterOptions;
  readonly #port: number;
  #server: Supervised;
  #controllers: Supervised | undefined;

  private constructor(options: RealClusterOptions, server: Server, caPem: string) {
    const { name, folder, address, adminToken } = options;
    this.name = name;
    this.folder = folder;
    this.url = urlOf(address, server.port);
    this.caPem = caPem;
    this.adminToken = adminToken;
    this.adminKubeconfig = kubeconfigOf(name, { url: this.url, caPem, token: adminToken });
    this.kubeconfigFile = join(folder, "kubeconfig.yaml");
    this.#options = options;
    this.#port = server.port;
    this.#server = server.process;
  }

  static async start(options: RealClusterOptions): Promise<RealCluster> {
    await prepareApiServer(options);
    const server = await startServer(apiServerPlan(options));
    try {
      const cluster = new RealCluster(options, server, await caOf(options.folder));
      await writeFile(cluster.kubeconfigFile, cluster.adminKubeconfig, { mode: 0o600 });
      if (options.controllerManager) await cluster.#startControllers();
      return cluster;
    } catch (error) {
      await server.process.kill();
      throw error;
    }
  }

  /** Of the kube-apiserver itself; another one after `startServer`. */
  get pid(): number {
    return this.#server.pid;
  }

  get admin(): Required<Access> {
    return { url: this.url, caPem: this.caPem, token: this.adminToken };
  }

  /** Asks as administrator; an answer of any status is returned. */
  request(call: Call): Promise<Answer> {
    return ask(this.admin, call);
  }

  /** Asks as administrator; an answer other than 2xx throws. `T` is the caller's word for what the server sends. */
  requestJson<T = unknown>(call: Call): Promise<T> {
    return askFor<T>(this.admin, call);
  }

  /** A kubeconfig for a ServiceAccount that may do what is said here and nothing else. */
  scopedKubeconfig(scope: ScopedAccess): Promise<string> {
    return scopedKubeconfig(this.admin, scope);
  }

  /** The server stops answering while its connections stay open, as behind a dead link. */
  pause(): void {
    this.#server.signal("SIGSTOP");
  }

  resume(): void {
    this.#server.signal("SIGCONT");
  }

  /** The server ends and its port refuses connections; the data stays. */
  async stopServer(): Promise<void> {
    await this.#server.stop();
  }

  /** The server comes back with the same address, certificate, tokens and data, and is ready. */
  async startServer(): Promise<void> {
    if (this.#server.running) return;
    const server = await startServer(apiServerPlan(this.#options), this.#port);
    this.#server = server.process;
  }

  /** Every request that the server has begun to answer before this call, but for the server's and this harness's own. */
  async audit(): Promise<AuditEntry[]> {
    const mark = `/version?mark=${randomUUID()}`;
    await this.request({ path: mark });
    for (const deadline = Date.now() + 10_000; Date.now() < deadline; await sleep(20)) {
      const entries = await readAuditLog(auditFileOf(this.folder));
      if (entries.some((entry) => entry.uri === mark)) return entries.filter(isForeign);
    }
    throw new Error(`${this.name} writes no audit log; start the control plane with { audit: true }`);
  }

  /** Ends everything of this cluster at once. */
  async kill(): Promise<void> {
    await Promise.all([this.#server.kill(), this.#controllers?.kill()]);
  }

  async #startControllers(): Promise<void> {
    this.#controllers = await startControllerManager({
      folder: this.folder,
      kubeconfigFile: this.kubeconfigFile,
      serviceAccountKeyFile: serviceAccountKeyOf(this.folder),
    });
  }
}

function isForeign(entry: AuditEntry): boolean {
  return entry.userAgent !== harnessAgent;
}
