import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { binary } from "./binaries.ts";
import { startEtcd } from "./etcd.ts";
import { RealCluster, type RealClusterOptions } from "./real-cluster.ts";

export interface ControlPlaneOptions {
  /** How many; they are named c1, c2, … */
  readonly clusters: number;
  /** Of the API servers. The newest when not said. */
  readonly version?: "newest" | "oldest";
  /** Endpoint slices, ServiceAccount tokens, garbage collection, the end of namespaces; always the newest version. */
  readonly controllerManager?: boolean;
  /** After ours, so that they win; for example `--goaway-chance=0.02`. */
  readonly apiServerFlags?: readonly string[];
  /** Whether `audit()` of a cluster has something to tell. */
  readonly audit?: boolean;
  /** For logs and data; kept at the end. A temporary one that is removed when not said. */
  readonly directory?: string;
  /** The IP address on which everything listens; 127.0.0.1 when not said. */
  readonly address?: string;
}

/** Real API servers on one real etcd. Everything ends with this process, however this process ends. */
export class ControlPlane {
  readonly clusters: readonly RealCluster[];
  readonly directory: string;
  readonly #end: () => Promise<void>;

  constructor(clusters: readonly RealCluster[], directory: string, end: () => Promise<void>) {
    this.clusters = clusters;
    this.directory = directory;
    this.#end = end;
  }

  /** Resolves when every process is gone; may be called again. */
  async stop(): Promise<void> {
    await Promise.all(this.clusters.map((cluster) => cluster.kill()));
    await this.#end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

/** Resolves when every API server is ready. On failure nothing stays, and the error quotes the log that says why. */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { clusters: count, version, directory: kept } = options;
  const program = binary(version === "oldest" ? "kube-apiserver-oldest" : "kube-apiserver");
  const directory = kept ?? (await mkdtemp(join(tmpdir(), "kilo-clustermesh-control-plane-")));
  const tidy = () => (kept ? Promise.resolve() : rm(directory, { recursive: true, force: true }));
  try {
    await mkdir(directory, { recursive: true });
    const etcd = await startEtcd({ folder: directory, address: addressOf(options), temporary: !kept });
    const end = () => etcd.process.kill().then(tidy);
    const etcdUrl = `http://${addressOf(options)}:${etcd.port}`;
    const plans = Array.from({ length: count }, (_, index) =>
      clusterOptions(options, { name: `c${index + 1}`, directory, etcdUrl, program }),
    );
    return await startClusters(plans, (clusters) => new ControlPlane(clusters, directory, end));
  } catch (error) {
    await tidy();
    throw error;
  }
}

type Assemble = (clusters: readonly RealCluster[]) => ControlPlane;

async function startClusters(plans: readonly RealClusterOptions[], assemble: Assemble): Promise<ControlPlane> {
  const starts = await Promise.allSettled(plans.map((plan) => RealCluster.start(plan)));
  const controlPlane = assemble(starts.flatMap((start) => (start.status === "fulfilled" ? [start.value] : [])));
  const failed = starts.find((start) => start.status === "rejected");
  if (!failed) return controlPlane;
  await controlPlane.stop();
  throw failed.reason;
}

function addressOf(options: ControlPlaneOptions): string {
  return options.address ?? "127.0.0.1";
}

interface Place {
  readonly name: string;
  readonly directory: string;
  readonly etcdUrl: string;
  readonly program: string;
}

function clusterOptions(options: ControlPlaneOptions, place: Place): RealClusterOptions {
  const { name, directory, etcdUrl, program } = place;
  return {
    name,
    etcdUrl,
    etcdPrefix: `/${name}`,
    folder: join(directory, name),
    program,
    address: addressOf(options),
    adminToken: randomBytes(16).toString("hex"),
    audit: options.audit ?? false,
    controllerManager: options.controllerManager ?? false,
    flags: options.apiServerFlags ?? [],
  };
}
