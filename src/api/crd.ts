import type { KubeObject } from "../kube/object.ts";
import { type Resource, customResourceDefinitions as untyped } from "../kube/resource.ts";
import { clusterMeshes } from "./cluster-mesh.ts";
import { objectSchema } from "./crd-schema.ts";
import { group, version } from "./names.ts";

export interface CrdObject extends KubeObject {
  readonly spec?: unknown;
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

export const customResourceDefinitions: Resource<CrdObject> = untyped;

export const clusterMeshCrdName = `${clusterMeshes.plural}.${group}`;

/** The CustomResourceDefinition of ClusterMesh, made from the schema. */
export function clusterMeshCrd(): CrdObject {
  const { plural, kind } = clusterMeshes;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: clusterMeshCrdName },
    spec: {
      group,
      scope: "Namespaced",
      names: { kind, listKind: `${kind}List`, plural, singular: "clustermesh", shortNames: ["cmesh"] },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: printerColumns,
          schema: { openAPIV3Schema: objectSchema() },
        },
      ],
    },
  };
}

const printerColumns = [
  { name: "Ready", type: "string", jsonPath: ".status.conditions[?(@.type=='Ready')].status" },
  { name: "Clusters", type: "string", jsonPath: ".status.summary.clusters" },
  { name: "Peers", type: "integer", jsonPath: ".status.summary.peers" },
  { name: "Skipped", type: "integer", jsonPath: ".status.summary.skipped" },
  { name: "Links", type: "string", jsonPath: ".status.summary.links" },
  { name: "Reason", type: "string", priority: 1, jsonPath: ".status.conditions[?(@.type=='Ready')].reason" },
  { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
];

export function isEstablished(crd: CrdObject): boolean {
  return (crd.status?.conditions ?? []).some(({ type, status }) => type === "Established" && status === "True");
}

/**
 * True when the live definition says all that ours says. The API server adds defaults of its own around ours, so only
 * what we set is compared, and the schema as a whole: a property that we dropped must go.
 */
export function conforms(live: unknown, wanted: unknown, isSchema = false): boolean {
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(live) &&
      live.length === wanted.length &&
      wanted.every((item, i) => conforms(live[i], item, isSchema))
    );
  }
  if (typeof wanted !== "object" || wanted === null) return live === wanted;
  if (typeof live !== "object" || live === null) return false;
  if (isSchema && Object.keys(live).length !== Object.keys(wanted).length) return false;
  return Object.entries(wanted).every(([key, value]) =>
    conforms((live as Record<string, unknown>)[key], value, isSchema || key === "openAPIV3Schema"),
  );
}
