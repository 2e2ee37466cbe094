import { parse } from "yaml";
import { clusterMeshes } from "../../src/api/cluster-mesh.ts";
import { type CrdObject, clusterMeshCrd, isEstablished } from "../../src/api/crd.ts";
import { finalizer, leaseName } from "../../src/api/names.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { collectionPath, objectPath } from "../../src/kube/resource.ts";
import type { RealCluster } from "../control-plane/real-cluster.ts";
import { namespace, peerNamesIn, quickStart, readyOf } from "../operator/real-mesh.ts";

const mesh = { namespace, name: "my-mesh" };
const crdPath = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${clusterMeshCrd().metadata.name}`;
const leasePath = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${leaseName}`;

async function read<T>(cluster: RealCluster, path: string): Promise<T | undefined> {
  const { status, body } = await cluster.request({ path });
  return status === 200 ? (body as T) : undefined;
}

type Promises = Readonly<Record<string, (local: RealCluster, remote: RealCluster) => Promise<boolean>>>;

/** What the operator does for the quick start's mesh, each as an administrator can see it. */
export const promises: Promises = {
  "takes the Lease": async (local) => {
    const lease = await read<{ spec: { holderIdentity?: string } }>(local, leasePath);
    return Boolean(lease?.spec.holderIdentity);
  },
  "installs the definition": async (local) => {
    const crd = await read<CrdObject>(local, crdPath);
    return crd !== undefined && isEstablished(crd);
  },
  "holds the mesh until it is clean": async (local) =>
    (await meshIn(local))?.metadata.finalizers?.includes(finalizer) ?? false,
  "writes Peers here": async (local) => (await peerNamesIn(local)).length === 2,
  "writes Peers there": async (_, remote) => (await peerNamesIn(remote)).length === 2,
  "says that the mesh is ready": async (local) =>
    (await meshIn(local)) !== undefined && (await readyOf(local)) === "True",
  "tells it in an Event": async (local) => {
    const uid = (await meshIn(local))?.metadata.uid;
    const path = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
    const list = await read<{ items: { regarding?: { uid?: string } }[] }>(local, path);
    return uid !== undefined && (list?.items.some(({ regarding }) => regarding?.uid === uid) ?? false);
  },
};

/** The promises that are not kept at this moment. */
export async function brokenPromises(local: RealCluster, remote: RealCluster): Promise<string[]> {
  const kept = await Promise.all(Object.values(promises).map((promise) => promise(local, remote)));
  return Object.keys(promises).filter((_, index) => !kept[index]);
}

/** Creates the quick start's mesh once the type is served. */
export async function createMesh(local: RealCluster): Promise<void> {
  if (await meshIn(local)) return;
  await local.request({
    method: "POST",
    path: collectionPath(clusterMeshes, namespace),
    body: parse(quickStart(2)),
  });
}

const meshIn = (local: RealCluster): Promise<KubeObject | undefined> => read(local, objectPath(clusterMeshes, mesh));
