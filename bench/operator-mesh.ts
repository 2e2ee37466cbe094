import { createHash } from "node:crypto";
import { type ClusterMeshObject, clusterMeshes } from "../src/api/cluster-mesh.ts";
import { type CrdObject, clusterMeshCrd, customResourceDefinitions } from "../src/api/crd.ts";
import { type NodeObject, nodes } from "../src/api/kilo-node.ts";
import { peers } from "../src/api/kilo-peer.ts";
import { nodeAnnotations } from "../src/api/names.ts";
import type { KubeClient } from "../src/kube/client.ts";
import { isKubeError } from "../src/kube/errors.ts";
import { apiVersionOf, namespaces, type Resource, secrets } from "../src/kube/resource.ts";
import { mapLimited } from "../src/runtime/limit.ts";
import { peerCrd } from "../src/sandbox/kilo/peer-crd.ts";
import { benchNode, lastSeenAnnotation } from "./objects.ts";

/** A cluster of the mesh: what the driver of a benchmark does there, and how an operator gets in. */
export interface BenchCluster {
  readonly name: string;
  readonly admin: KubeClient;
  readonly kubeconfig: string;
}

/** Where the mesh, its Secrets and the Lease are. */
export const home = "kilo-system";
const mesh = { namespace: home, name: "bench" };
const writesAtOnce = 8;

/** What of a node may change while it stays the same node. */
export interface NodeForm {
  readonly port?: number;
  /** In the other half of its cluster's WireGuard network. */
  readonly renumbered?: boolean;
}

export const serviceCidrOf = (cluster: number): string => `172.${16 + cluster}.0.0/16`;
export const nodeNameOf = (cluster: BenchCluster, index: number): string => `${cluster.name}-node-${index}`;
export const firstPort = 20_000;

/** The annotations by which one form of a node differs from another. `cluster` and `index` count from 0. */
export function annotationsOf(cluster: number, index: number, form: NodeForm = {}): Record<string, string> {
  const [high, low] = halves(index);
  const endpoint = `198.${18 + (cluster >> 3)}.${(cluster & 7) * 32 + high}.${low}:${form.port ?? firstPort}`;
  return {
    [nodeAnnotations.wireguardIp]: `100.${64 + cluster}.${high + (form.renumbered ? 128 : 0)}.${low}/16`,
    [nodeAnnotations.forceEndpoint]: endpoint,
    [nodeAnnotations.kiloEndpoint]: endpoint,
  };
}

/** Up to 16 clusters of up to 2,000 nodes, none of whose addresses meet. Nobody has given a sign of life yet. */
export function meshNode(cluster: number, index: number, name: string): NodeObject {
  const { metadata, status } = benchNode(index);
  const { [lastSeenAnnotation]: _, ...annotations } = metadata.annotations ?? {};
  const [high, low] = halves(index);
  const podCIDR = `10.${8 * cluster + high}.${low}.0/24`;
  const identity = { [nodeAnnotations.key]: createHash("sha256").update(name).digest("base64") };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: { ...metadata.labels, "kubernetes.io/hostname": name },
      annotations: {
        ...annotations,
        ...annotationsOf(cluster, index),
        ...identity,
        [nodeAnnotations.granularity]: "full",
      },
    },
    spec: { podCIDR, podCIDRs: [podCIDR] },
    status: {
      ...status,
      addresses: [
        { type: "InternalIP", address: `10.${128 + 8 * cluster + high}.${low}.1` },
        { type: "Hostname", address: name },
      ],
    },
  };
}

const halves = (index: number): readonly [number, number] => [(index + 1) >> 8, (index + 1) & 255];

/** Kilo's type and `count` nodes in every cluster; in the first one all that an operator finds when it starts. */
export async function furnish(clusters: readonly BenchCluster[], count: number): Promise<void> {
  const [local] = clusters;
  await Promise.all(clusters.map(({ admin }) => define(admin, peerCrd())));
  if (local) await furnishHome(local, clusters);
  await Promise.all(
    clusters.map(({ admin }, cluster) =>
      mapLimited(
        Array.from({ length: count }, (_, index) => index),
        writesAtOnce,
        (index) => admin.create(nodes, meshNode(cluster, index, nodeNameOf(clusters[cluster] as BenchCluster, index))),
      ),
    ),
  );
}

async function furnishHome({ admin }: BenchCluster, clusters: readonly BenchCluster[]): Promise<void> {
  await define(admin, clusterMeshCrd());
  await admin.create(namespaces, { metadata: { name: home } });
  for (const { name, kubeconfig } of clusters.slice(1)) {
    const data = { kubeconfig: Buffer.from(kubeconfig).toString("base64") };
    await admin.create(secrets, { metadata: { namespace: home, name }, ...{ data } });
  }
}

async function define(admin: KubeClient, crd: CrdObject): Promise<void> {
  await admin.create(customResourceDefinitions, crd);
  const { group, names, versions } = crd.spec as CrdSpec;
  const [{ name: version } = { name: "" }] = versions;
  const resource: Resource = { group, version, ...names, namespaced: false };
  for (let attempt = 0; ; attempt++) {
    try {
      await admin.list(resource, { limit: 1 });
      return;
    } catch (error) {
      if (!isKubeError(error, "not-found") || attempt > 200) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

interface CrdSpec {
  readonly group: string;
  readonly names: { readonly plural: string; readonly kind: string };
  readonly versions: readonly { readonly name: string }[];
}

/** The mesh as a person has applied it: no Peers anywhere, no finalizer, no status. */
export async function startOver(clusters: readonly BenchCluster[]): Promise<void> {
  const [local] = clusters;
  if (!local) return;
  await takeMesh(local.admin);
  await Promise.all(clusters.map(({ admin }) => removePeers(admin)));
  await local.admin.create(clusterMeshes, meshOf(clusters));
}

async function takeMesh(admin: KubeClient): Promise<void> {
  try {
    await admin.patch(clusterMeshes, mesh, { body: { metadata: { finalizers: null } } });
    await admin.delete(clusterMeshes, mesh);
  } catch (error) {
    if (!isKubeError(error, "not-found")) throw error;
  }
}

async function removePeers(admin: KubeClient): Promise<void> {
  const { items } = await admin.list(peers);
  await mapLimited(items, writesAtOnce, ({ metadata: { name } }) => admin.delete(peers, { name }));
}

function meshOf(clusters: readonly BenchCluster[]): ClusterMeshObject {
  const entries = clusters.map(({ name }, cluster) => ({
    name,
    ...(cluster === 0 ? { local: true } : { kubeconfigSecretRef: { name, key: "kubeconfig" } }),
    podCIDRs: [`10.${8 * cluster}.0.0/13`],
    wireguardCIDR: `100.${64 + cluster}.0.0/16`,
    serviceCIDR: serviceCidrOf(cluster),
  }));
  const { kind } = clusterMeshes;
  return { apiVersion: apiVersionOf(clusterMeshes), kind, metadata: mesh, spec: { clusters: entries } };
}
