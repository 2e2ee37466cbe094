import { type ClusterMeshObject, clusterMeshes } from "../api/cluster-mesh.ts";
import type { KubeClient } from "../kube/client.ts";
import { isKubeError } from "../kube/errors.ts";
import { refusalOf } from "./gate.ts";

const deadlineMs = 5000;

/** A merge patch on a mesh. With `metadata.resourceVersion` in it, somebody who was faster wins. */
export interface MeshPatch {
  readonly subresource?: "status";
  readonly body: object;
}

/** Writes it; returns what was refused. A mesh that is gone needs nothing. */
export async function patchMesh(
  client: Pick<KubeClient, "patch">,
  { metadata: { name, namespace = "" } }: ClusterMeshObject,
  patch: MeshPatch,
): Promise<Error | undefined> {
  try {
    await client.patch(clusterMeshes, { name, namespace }, { ...patch, deadlineMs });
    return undefined;
  } catch (error) {
    if (isKubeError(error, "not-found")) return undefined;
    return new Error(`${namespace}/${name} not written: ${refusalOf(error)}`);
  }
}
