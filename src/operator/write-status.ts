import { type ClusterMeshObject, clusterMeshes } from "../api/cluster-mesh.ts";
import type { ClusterMeshStatus } from "../api/schema.ts";
import { isKubeError } from "../kube/errors.ts";
import type { ObjectClient, WriteGate } from "./gate.ts";

export interface StatusPorts {
  readonly client: ObjectClient;
  readonly gate: WriteGate;
}

const deadlineMs = 5000;

/** Writes the status of a mesh; returns what the API refused. A mesh that is gone needs none. */
export async function writeStatus(
  { client, gate }: StatusPorts,
  { metadata }: ClusterMeshObject,
  status: ClusterMeshStatus,
): Promise<Error | undefined> {
  if (!gate.mayWrite(deadlineMs)) return new Error("not leading");
  const { name, namespace = "" } = metadata;
  try {
    await client.patch(clusterMeshes, { name, namespace }, { body: { status }, subresource: "status", deadlineMs });
    return undefined;
  } catch (error) {
    if (!isKubeError(error)) throw error;
    return error.kind === "not-found" ? undefined : error;
  }
}
