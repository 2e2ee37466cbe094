import { createHash } from "node:crypto";
import { speakFor, twinsOf } from "../core/twins.ts";
import type { World } from "../core/world.ts";
import type { Registry } from "../registry/registry.ts";
import type { Topology } from "./connect-clusters.ts";

export interface ObserveInput {
  readonly instance: string;
  readonly topology: Topology | undefined;
  readonly registry: Registry;
  readonly resolved: World["resolved"];
  readonly allowedCidrs: World["allowedCidrs"];
  readonly ghostsMayGo: boolean;
}

/** Everything we know, from memory, in one synchronous step. Undefined before the meshes are known. */
export function observe({ instance, topology, registry, ...rest }: ObserveInput): World | undefined {
  if (!topology) return undefined;
  const clusters = registry.views();
  const leaving = new Set(registry.leaving());
  const twins = twinsOf(clusters, leaving);
  const meshes = speakFor(topology.meshes, twins);
  const servers = registry.hosts();
  const { refused, draining } = topology;
  return { ...rest, instance, spec: topology, meshes, refused, draining, clusters, twins, leaving, servers, digest };
}

const digest = (text: string): string => createHash("sha256").update(text).digest("hex");
