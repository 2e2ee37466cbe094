import * as z from "zod";
import { clusterMeshSpec, clusterMeshStatus } from "./schema.ts";

/** The structural schema of a ClusterMesh, as its definition holds it. A bundle has the outcome instead of this file. */
export function objectSchema(): unknown {
  return {
    type: "object",
    description: "A set of clusters whose nodes are Peers of each other.",
    required: ["spec"],
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { type: "object" },
      spec: structural(clusterMeshSpec),
      status: structural(clusterMeshStatus),
    },
  };
}

/** What zod emits, without the parts that a structural schema may not have. */
function structural(schema: z.ZodType): unknown {
  return prune(z.toJSONSchema(schema, { target: "openapi-3.0", io: "input", reused: "inline", cycles: "throw" }));
}

const unboundedIntegers = new Set<unknown>([Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]);

function prune(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(prune);
  if (typeof node !== "object" || node === null) return node;
  const kept = Object.entries(node).filter(
    ([key, value]) => key !== "$schema" && key !== "additionalProperties" && !unboundedIntegers.has(value),
  );
  return Object.fromEntries(kept.map(([key, value]) => [key, prune(value)]));
}
