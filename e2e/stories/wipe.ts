import { clusterMeshes } from "../../src/api/cluster-mesh.ts";
import { nodes } from "../../src/api/kilo-node.ts";
import { peers } from "../../src/api/kilo-peer.ts";
import { leaseName } from "../../src/api/names.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import { isKubeError } from "../../src/kube/errors.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { leases, type Resource, secrets } from "../../src/kube/resource.ts";
import { homeNamespace } from "../../test/stories/facts.ts";

/** Takes everything away that a story may have left, finalizers or not. */
export async function wipe(admin: KubeClient): Promise<void> {
  for (const resource of [clusterMeshes, secrets, nodes, peers]) await removeAll(admin, resource);
  await quietly(admin.delete(leases, { namespace: homeNamespace, name: leaseName }));
}

async function removeAll(admin: KubeClient, resource: Resource): Promise<void> {
  const left = await quietly(admin.list(resource));
  await Promise.all((left?.items ?? []).map((object) => remove(admin, resource, object)));
}

async function remove(admin: KubeClient, resource: Resource, { metadata }: KubeObject): Promise<void> {
  const ref = { name: metadata.name, ...(metadata.namespace !== undefined && { namespace: metadata.namespace }) };
  if (metadata.finalizers?.length) {
    await quietly(admin.patch(resource, ref, { body: { metadata: { finalizers: null } } }));
  }
  await quietly(admin.delete(resource, ref));
}

/** The answer, or nothing where there is no such object or type. */
export async function quietly<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (!isKubeError(error, "not-found")) throw error;
    return undefined;
  }
}
