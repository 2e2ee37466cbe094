import { createHash } from "node:crypto";
import type { World } from "../core/world.ts";
import type { Registry } from "../registry/registry.ts";
import type { Topology } from "./connect-clusters.ts";

export interface ObserveInput {
  readonly instance: string;
  readonly topology: Topology | undefined;
  readonly registry: Registry;
}

/** Everything we know, from memory, in one synchronous step. Undefined before the meshes are known. */
export function observe({ instance, topology, registry }: ObserveInput): World | undefined {
  if (!topology) return undefined;
  return { instance, meshes: topology.meshes, refused: topology.refused, clusters: registry.views(), digest };
}

const digest = (text: string): string => createHash("sha256").update(text).digest("hex");
