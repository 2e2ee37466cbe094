import type { KubeObject } from "../../src/kube/object.ts";
import { customResourceDefinitions, type Resource } from "../../src/kube/resource.ts";

export interface Gadget extends KubeObject {
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

/** A custom resource with a bit of everything that a schema can say. */
export const gadgets: Resource<Gadget> = {
  group: "example.com",
  version: "v1",
  plural: "gadgets",
  kind: "Gadget",
  namespaced: true,
};

export const definitions = customResourceDefinitions as Resource<KubeObject & Readonly<Record<string, unknown>>>;

const cluster = {
  type: "object",
  required: ["name"],
  properties: { name: { type: "string", minLength: 1 }, port: { type: "integer", default: 51820 } },
};

const spec = {
  type: "object",
  required: ["size"],
  properties: {
    size: { type: "integer", minimum: 1, maximum: 10 },
    color: { type: "string", default: "red", enum: ["red", "blue"] },
    name: { type: "string", maxLength: 5, pattern: "^[a-z]*$" },
    port: { "x-kubernetes-int-or-string": true },
    note: { type: "string", nullable: true },
    free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
    clusters: {
      type: "array",
      minItems: 1,
      maxItems: 3,
      items: cluster,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
    },
  },
};

const condition = { type: "object", properties: { type: { type: "string" }, status: { type: "string" } } };
const status = {
  type: "object",
  properties: { phase: { type: "string" }, conditions: { type: "array", items: condition } },
};

export const gadgetDefinition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "gadgets.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "gadgets", kind: "Gadget", shortNames: ["gd"] },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [
          { name: "Ready", type: "string", jsonPath: ".status.conditions[?(@.type=='Ready')].status" },
          { name: "Size", type: "integer", jsonPath: ".spec.size" },
          { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
        ],
        schema: { openAPIV3Schema: { type: "object", properties: { spec, status } } },
      },
    ],
  },
};

export function aGadget(name: string, spec: Readonly<Record<string, unknown>> = { size: 3 }): Gadget {
  return { apiVersion: "example.com/v1", kind: "Gadget", metadata: { name, namespace: "default" }, spec };
}
