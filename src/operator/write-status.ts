import { type ClusterMeshObject, clusterMeshes } from "../api/cluster-mesh.ts";
import type { ClusterMeshStatus } from "../api/schema.ts";
import type { KubeClient } from "../kube/client.ts";
import { isKubeError } from "../kube/errors.ts";
import { refusalOf } from "./gate.ts";

const deadlineMs = 5000;

/** Writes the status of a mesh; returns what was refused. A mesh that is gone needs none. */
export async function writeStatus(
  client: Pick<KubeClient, "patch">,
  { metadata: { name, namespace = "" } }: ClusterMeshObject,
  status: ClusterMeshStatus,
): Promise<Error | undefined> {
  try {
    await client.patch(clusterMeshes, { name, namespace }, { body: { status }, subresource: "status", deadlineMs });
    return undefined;
  } catch (error) {
    if (isKubeError(error, "not-found")) return undefined;
    return new Error(`status of ${namespace}/${name} not written: ${refusalOf(error)}`);
  }
}
