import { type ClusterMeshObject, clusterMeshes } from "../api/cluster-mesh.ts";
import type { Condition } from "../core/conditions.ts";
import type { EventInput } from "../kube/events.ts";
import { apiVersionOf } from "../kube/resource.ts";

/** The Event that says that a mesh's Ready condition has turned. Its reason is the condition's. */
export function readyEvent({ metadata }: ClusterMeshObject, { status, reason, message }: Condition): EventInput {
  const { name, namespace = "", uid = "" } = metadata;
  return {
    regarding: { apiVersion: apiVersionOf(clusterMeshes), kind: clusterMeshes.kind, namespace, name, uid },
    type: status === "True" ? "Normal" : "Warning",
    reason,
    action: "Report",
    note: message,
  };
}
