import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startControlPlane } from "../e2e/control-plane/control-plane.ts";
import type { RealCluster } from "../e2e/control-plane/real-cluster.ts";
import { remoteRules } from "../e2e/operator/real-mesh.ts";
import { fleetNames } from "../src/sandbox/fleet.ts";
import type { Children } from "./children.ts";
import { clientOf } from "./operator-clients.ts";
import type { ClustersReady, ClustersRequests, ClustersRun } from "./operator-clusters.ts";
import type { BenchCluster } from "./operator-mesh.ts";
import { type RequestTally, tallyOf } from "./operator-requests.ts";

/** Clusters for one operator, in processes of their own. */
export interface Arena {
  /** The operator runs in the first. */
  readonly clusters: readonly BenchCluster[];
  /** For logs, profiles and the kubeconfig of the operator; it is removed at the end. */
  readonly folder: string;
  /** What operators have asked for so far. */
  requests(): Promise<RequestTally>;
  stop(): Promise<void>;
}

const driverAgent = "bench-driver";

/** API servers as Kubernetes ships them, on one etcd; the operator has the rights of the quick start in the remote ones. */
export async function realArena(count: number): Promise<Arena> {
  const plane = await startControlPlane({ clusters: count, audit: true });
  const [local, ...remotes] = plane.clusters;
  if (!local) throw new Error("no cluster");
  const credential = (remote: RealCluster): Promise<string> =>
    remote.scopedKubeconfig({ name: "clustermesh-reader", clusterRoleRules: remoteRules });
  const kubeconfigs = [local.adminKubeconfig, ...(await Promise.all(remotes.map(credential)))];
  const clusters = plane.clusters.map(({ adminKubeconfig }, index) => {
    const name = fleetNames(count)[index] ?? "";
    const kubeconfig = kubeconfigs[index] ?? "";
    return { name, kubeconfig, admin: clientOf(name, adminKubeconfig, driverAgent) };
  });
  return {
    clusters,
    folder: plane.directory,
    requests: async () => tallyOf((await Promise.all(plane.clusters.map((cluster) => cluster.audit()))).flat()),
    stop: async () => {
      for (const { admin } of clusters) admin.close();
      await plane.stop();
    },
  };
}

export async function embeddedArena(count: number, children: Children): Promise<Arena> {
  const names = fleetNames(count);
  const server = children.start("operator-clusters.ts", { names } satisfies ClustersRun);
  const { kubeconfigs } = await server.next<ClustersReady>("ready");
  const folder = mkdtempSync(join(tmpdir(), "kilo-clustermesh-bench-"));
  const clusters = names.map((name, index) => {
    const kubeconfig = kubeconfigs[index] ?? "";
    return { name, kubeconfig, admin: clientOf(name, kubeconfig, driverAgent) };
  });
  return {
    clusters,
    folder,
    requests: async () => {
      server.send({ kind: "requests" });
      return tallyOf((await server.next<ClustersRequests>("requests")).requests);
    },
    stop: async () => {
      for (const { admin } of clusters) admin.close();
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The file that an operator is started with. */
export function operatorKubeconfig({ clusters, folder }: Arena): string {
  const file = join(folder, "operator.kubeconfig");
  writeFileSync(file, clusters[0]?.kubeconfig ?? "", { mode: 0o600 });
  return file;
}
