import { type ClusterMeshObject, clusterMeshes } from "../api/cluster-mesh.ts";
import type { Condition } from "../core/conditions.ts";
import type { EventInput } from "../kube/events.ts";
import { apiVersionOf } from "../kube/resource.ts";

/** The Event that says that a mesh's Ready condition has turned. Its reason is the condition's. */
export function readyEvent(object: ClusterMeshObject, { status, reason, message }: Condition): EventInput {
  const type = status === "True" ? "Normal" : "Warning";
  return { regarding: regarding(object), type, reason, action: "Report", note: message };
}

/** The Event that names the clusters in which a deleted mesh may have left Peers. */
export function leftoversEvent(object: ClusterMeshObject, clusters: readonly string[]): EventInput {
  const note = `Peers may be left in ${clusters.join(", ")}: these could not be reached any more`;
  return { regarding: regarding(object), type: "Warning", reason: "PeersLeft", action: "Delete", note };
}

function regarding({ metadata: { name, namespace = "", uid = "" } }: ClusterMeshObject): EventInput["regarding"] {
  return { apiVersion: apiVersionOf(clusterMeshes), kind: clusterMeshes.kind, namespace, name, uid };
}
