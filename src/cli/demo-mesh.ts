import { type ClusterMeshObject, clusterMeshes } from "../api/cluster-mesh.ts";
import { nodes } from "../api/kilo-node.ts";
import { peers } from "../api/kilo-peer.ts";
import { secrets } from "../api/kubeconfig-secret.ts";
import { namespaces } from "../kube/resource.ts";
import { networksOf } from "../sandbox/fleet.ts";
import type { Sandbox, SandboxCluster } from "../sandbox/sandbox.ts";

export const demoMeshRef = { namespace: "kilo-system", name: "my-mesh" } as const;

/** The ClusterMesh of the quick start, over every cluster of the sandbox; the first is the local one. */
export function demoMesh(sandbox: Sandbox): ClusterMeshObject {
  const clusters = sandbox.clusters.map(({ name }, number) => ({
    name,
    ...(number === 0 ? { local: true } : { kubeconfigSecretRef: { name: `${name}-kubeconfig`, key: "kubeconfig" } }),
    ...networksOf(number),
  }));
  return { apiVersion: "kilo.squat.ai/v1alpha1", kind: "ClusterMesh", metadata: demoMeshRef, spec: { clusters } };
}

/** What a person would have created before the ClusterMesh: its namespace, and a Secret for each remote cluster. */
export function prepareDemo({ clusters: [local, ...remotes] }: Sandbox): void {
  if (!local) return;
  const { namespace } = demoMeshRef;
  local.store.create(namespaces, { metadata: { name: namespace } });
  for (const remote of remotes) {
    const data = { kubeconfig: Buffer.from(remote.kubeconfig()).toString("base64") };
    local.store.create(secrets, { metadata: { namespace, name: `${remote.name}-kubeconfig` }, data });
  }
}

export interface DemoSummary {
  readonly ready: boolean;
  readonly clusters: readonly { readonly name: string; readonly nodes: number; readonly peers: number }[];
}

/** How far the mesh is, as the API servers tell it. */
export function demoSummary({ clusters }: Sandbox): DemoSummary {
  return {
    ready: clusters[0] !== undefined && isReady(clusters[0]),
    clusters: clusters.map(({ name, store }) => ({
      name,
      nodes: store.list(nodes).length,
      peers: store.list(peers).length,
    })),
  };
}

function isReady({ store }: SandboxCluster): boolean {
  const conditions = store.find(clusterMeshes, demoMeshRef)?.status?.conditions ?? [];
  return conditions.some(({ type, status }) => type === "Ready" && status === "True");
}
