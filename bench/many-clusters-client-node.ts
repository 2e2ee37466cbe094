// Two informers of @kubernetes/client-node for each cluster, in a process of their own; see many-clusters.ts.
import {
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  type KubernetesListObject,
  type KubernetesObject,
  makeInformer,
} from "@kubernetes/client-node";
import type { ManyClustersRun } from "./many-clusters.ts";
import { measureManyClusters } from "./many-clusters-run.ts";

interface Wanted {
  readonly path: string;
  readonly count: number;
  readonly list: () => Promise<KubernetesListObject<KubernetesObject>>;
}

async function connect(kubeconfig: string, { nodes, peers }: ManyClustersRun): Promise<void> {
  const config = new KubeConfig();
  config.loadFromString(kubeconfig);
  const core = config.makeApiClient(CoreV1Api);
  const custom = config.makeApiClient(CustomObjectsApi);
  const peerType = { group: "kilo.squat.ai", version: "v1alpha1", plural: "peers" };
  await Promise.all([
    listed(config, { path: "/api/v1/nodes", count: nodes, list: () => core.listNode() }),
    listed(config, {
      path: "/apis/kilo.squat.ai/v1alpha1/peers",
      count: peers,
      list: () => custom.listClusterCustomObject(peerType),
    }),
  ]);
}

function listed(config: KubeConfig, { path, count, list }: Wanted): Promise<void> {
  const informer = makeInformer(config, path, list);
  return new Promise((resolve, reject) => {
    let added = 0;
    informer.on("add", () => {
      if (++added === count) resolve();
    });
    informer.on("error", reject);
    informer.start().catch(reject);
  });
}

const run = JSON.parse(process.argv[2] ?? "{}") as ManyClustersRun;
await measureManyClusters(async () => {
  await Promise.all(run.kubeconfigs.map((kubeconfig) => connect(kubeconfig, run)));
});
