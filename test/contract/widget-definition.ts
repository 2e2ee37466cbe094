import { randomBytes } from "node:crypto";
import type { CrdObject } from "../../src/api/crd.ts";

export const contractGroup = "contract.example.org";

const text = { type: "string" };

const port = {
  type: "object",
  required: ["name", "port"],
  properties: {
    name: text,
    port: { type: "integer", minimum: 1, maximum: 65535 },
    protocol: { ...text, default: "TCP" },
  },
};

const widgetSpec = {
  type: "object",
  required: ["size"],
  properties: {
    size: { type: "integer", minimum: 1, maximum: 10 },
    colour: { ...text, enum: ["red", "green", "blue"], default: "red" },
    label: { ...text, maxLength: 10, pattern: "^[a-z]+$" },
    names: { type: "array", minItems: 1, maxItems: 3, items: text },
    tags: { type: "array", items: text, "x-kubernetes-list-type": "set" },
    ports: {
      type: "array",
      items: port,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
    },
    options: { type: "object", additionalProperties: text },
    nested: { type: "object", properties: { mode: { ...text, default: "auto" }, depth: { type: "integer" } } },
    filled: { type: "object", default: {}, properties: { level: { type: "integer", default: 3 } } },
    free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    note: { ...text, nullable: true },
    enabled: { type: "boolean" },
    ratio: { type: "number" },
    when: { ...text, format: "date-time" },
    amount: { "x-kubernetes-int-or-string": true },
  },
};

const widgetStatus = {
  type: "object",
  properties: { phase: { ...text, enum: ["Pending", "Ready"] }, observed: { type: "integer" } },
};

/** A namespaced kind with a status subresource and one field of every sort that schemas can describe. */
export function widgetDefinition(): CrdObject {
  return definition({ kind: "Widget", scope: "Namespaced" }, [
    {
      ...storedVersion("v1", { spec: widgetSpec, status: widgetStatus }),
      subresources: { status: {} },
      additionalPrinterColumns: [
        { name: "Size", type: "integer", jsonPath: ".spec.size" },
        { name: "Phase", type: "string", jsonPath: ".status.phase" },
        { name: "Colour", type: "string", jsonPath: ".spec.colour", priority: 1 },
      ],
    },
  ]);
}

/** A kind of the cluster, without a status subresource; served in two versions. */
export function gadgetDefinition(): CrdObject {
  const properties = { spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true }, status: widgetStatus };
  return definition({ kind: "Gadget", scope: "Cluster" }, [
    storedVersion("v1", properties),
    { ...storedVersion("v1beta1", properties), storage: false },
  ]);
}

/** A kind that no other case has, with one small version: for cases that change or remove its definition. */
export function ownDefinition(properties: Readonly<Record<string, unknown>>): CrdObject {
  const kind = `Own${randomBytes(5).toString("hex")}`;
  return definition({ kind, scope: "Namespaced" }, [storedVersion("v1", { spec: { type: "object", properties } })]);
}

interface Naming {
  readonly kind: string;
  readonly scope: "Namespaced" | "Cluster";
}

function definition({ kind, scope }: Naming, versions: readonly unknown[]): CrdObject {
  const singular = kind.toLowerCase();
  return {
    metadata: { name: `${singular}s.${contractGroup}` },
    spec: { group: contractGroup, scope, names: { kind, singular, plural: `${singular}s` }, versions },
  };
}

function storedVersion(name: string, properties: Readonly<Record<string, unknown>>) {
  return { name, served: true, storage: true, schema: { openAPIV3Schema: { type: "object", properties } } };
}
