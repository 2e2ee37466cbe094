import { randomBytes } from "node:crypto";
import { namespaces } from "../kube/resource.ts";
import { ApiServer } from "./api-server.ts";
import { Authentication } from "./authentication.ts";
import { builtInResources } from "./builtin.ts";
import { Catalogue } from "./catalogue.ts";
import { createServingCertificate } from "./certificates.ts";
import { Faults } from "./faults.ts";
import { Listener } from "./listener.ts";
import { ObjectStore } from "./object-store.ts";
import { seededRandom, seedOf } from "./random.ts";
import { RequestLog } from "./request-log.ts";
import { Storage } from "./storage.ts";

export interface SandboxOptions {
  /** The names of the clusters. */
  readonly clusters: readonly string[];
  /** What uids, generated names and the chance of faults follow from. */
  readonly seed?: number;
  readonly bookmarkEveryMs?: number;
  /** How many changes of each resource are remembered for watches. */
  readonly historyLimit?: number;
}

export interface Sandbox {
  readonly clusters: readonly SandboxCluster[];
  cluster(name: string): SandboxCluster;
  stop(): Promise<void>;
}

/** One Kubernetes API, served at `url`. */
export interface SandboxCluster {
  readonly name: string;
  readonly url: string;
  readonly caPem: string;
  readonly adminToken: string;
  /** A kubeconfig with everything inline; JSON, which is YAML. */
  kubeconfig(options?: { readonly token?: string }): string;
  /** Accepted until it is revoked, or until its time is over. */
  addToken(token: string, options?: { readonly until?: Date }): void;
  revokeToken(token: string): void;
  readonly faults: Faults;
  readonly requests: RequestLog;
  /** Direct reads and writes, by the same rules as over HTTP. */
  readonly store: Storage;
  /** Forgets the past: the next resume from an older resourceVersion is told 410. */
  compact(): void;
  cutWatches(): void;
  /** HTTP/2 GOAWAY on every connection; open streams stay. */
  goaway(): void;
  stopListening(): Promise<void>;
  startListening(): Promise<void>;
}

/** Starts clusters in this process, each on its own port of 127.0.0.1. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const started = await Promise.all(options.clusters.map((name) => startCluster(name, options)));
  return {
    clusters: started,
    cluster: (name) => {
      const found = started.find((cluster) => cluster.name === name);
      if (!found) throw new Error(`the sandbox has no cluster ${JSON.stringify(name)}`);
      return found;
    },
    stop: async () => {
      await Promise.all(started.map((cluster) => cluster.stopListening()));
    },
  };
}

async function startCluster(name: string, options: SandboxOptions): Promise<SandboxCluster> {
  const now = (): Date => new Date();
  const random = seededRandom(seedOf(name, options.seed ?? 1));
  const catalogue = new Catalogue(builtInResources(now));
  const store = new ObjectStore({ catalogue, random, now, historyLimit: options.historyLimit ?? 8192 });
  const faults = new Faults(seededRandom(seedOf(`${name} faults`, options.seed ?? 1)));
  const requests = new RequestLog();
  const authentication = new Authentication(now);
  const adminToken = randomBytes(24).toString("base64url");
  authentication.add(adminToken);
  const bookmarkEveryMs = options.bookmarkEveryMs ?? 60_000;
  const server = new ApiServer({ store, faults, requests, authentication, now, bookmarkEveryMs });
  const certificate = await createServingCertificate(name, now());
  const listener = new Listener(certificate, (request, answer) => server.handle(request, answer));
  const storage = new Storage(store);
  createNamespaces(storage);
  await listener.start();
  return {
    name,
    get url() {
      return listener.url;
    },
    caPem: certificate.caPem,
    adminToken,
    kubeconfig: ({ token = adminToken } = {}) =>
      kubeconfigText({ name, url: listener.url, caPem: certificate.caPem, token }),
    addToken: (token, { until } = {}) => authentication.add(token, until),
    revokeToken: (token) => authentication.revoke(token),
    faults,
    requests,
    store: storage,
    compact: () => store.compact(),
    cutWatches: () => server.cutWatches(),
    goaway: () => listener.goaway(),
    stopListening: () => listener.stop(),
    startListening: () => listener.start(),
  };
}

function createNamespaces(storage: Storage): void {
  for (const name of ["default", "kube-node-lease", "kube-public", "kube-system"]) {
    storage.create(namespaces, { metadata: { name } });
  }
}

interface KubeconfigFacts {
  readonly name: string;
  readonly url: string;
  readonly caPem: string;
  readonly token: string;
}

function kubeconfigText({ name, url, caPem, token }: KubeconfigFacts): string {
  const ca = Buffer.from(caPem).toString("base64");
  const kubeconfig = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server: url, "certificate-authority-data": ca } }],
    users: [{ name: "admin", user: { token } }],
    contexts: [{ name, context: { cluster: name, user: "admin", namespace: "default" } }],
    "current-context": name,
  };
  return `${JSON.stringify(kubeconfig, undefined, 2)}\n`;
}
