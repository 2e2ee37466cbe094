import { createHash } from "node:crypto";
import { customResourceDefinitions } from "../api/crd.ts";
import { type NodeObject, nodes } from "../api/kilo-node.ts";
import { nodeAnnotations } from "../api/names.ts";
import type { Clock } from "../runtime/clock.ts";
import { fleetLimits } from "./fleet-limits.ts";
import { peerCrd } from "./kilo/peer-crd.ts";
import { type Sandbox, type SandboxCluster, startSandbox } from "./sandbox.ts";

/** The networks of a cluster of the fleet, disjoint from those of every other. */
export interface FleetNetworks {
  readonly podCIDRs: readonly string[];
  readonly wireguardCIDR: string;
  readonly serviceCIDR: string;
}

/** Cluster 0 and 1 are cluster-a and cluster-b of the quick start. */
export function networksOf(cluster: number): FleetNetworks {
  if (cluster >= fleetLimits.clusters) throw new Error("the fleet's address plan has no such cluster");
  return {
    podCIDRs: [`10.${cluster + 1}.0.0/16`],
    wireguardCIDR: `10.200.${cluster}.0/24`,
    serviceCIDR: cluster < 2 ? `10.${96 + 16 * cluster}.0.0/12` : `100.${62 + cluster}.0.0/16`,
  };
}

/** `cluster-a`, `cluster-b`, …, `cluster-z`, `cluster-aa`, … */
export function fleetNames(count: number): string[] {
  const letters = (n: number): string =>
    n < 0 ? "" : letters(Math.floor(n / 26) - 1) + String.fromCharCode(97 + (n % 26));
  return Array.from({ length: count }, (_, index) => `cluster-${letters(index)}`);
}

/** A Node as a cluster with Kilo has it. `cluster` and `index` count from 0. */
export function fleetNode(cluster: number, index: number, name: string): NodeObject {
  const address = `198.18.${cluster}.${index + 1}`;
  const podCIDR = `10.${cluster + 1}.${index}.0/24`;
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: { "kubernetes.io/hostname": name },
      annotations: {
        [nodeAnnotations.wireguardIp]: `10.200.${cluster}.${index + 1}/24`,
        [nodeAnnotations.key]: createHash("sha256").update(name).digest("base64"),
        [nodeAnnotations.forceEndpoint]: `${address}:51820`,
        "kilo.squat.ai/endpoint": `${address}:51820`,
        "kilo.squat.ai/granularity": "full",
        "kilo.squat.ai/internal-ip": `172.20.${cluster}.${index + 1}/24`,
      },
    },
    spec: { podCIDR, podCIDRs: [podCIDR] } as NonNullable<NodeObject["spec"]>,
    status: {
      addresses: [
        { type: "InternalIP", address: `172.20.${cluster}.${index + 1}` },
        { type: "Hostname", address: name },
      ],
      conditions: [{ type: "Ready", status: "True" }],
    } as NonNullable<NodeObject["status"]>,
  };
}

export interface FleetOptions {
  readonly clusters: number;
  /** In each cluster. */
  readonly nodes: number;
  readonly clock: Clock;
}

export interface Fleet {
  readonly sandbox: Sandbox;
  stop(): Promise<void>;
}

/** Clusters with what Kilo's installation gives them, whose nodes are kept alive as a running Kilo does. */
export async function startFleet({ clusters, nodes: nodeCount, clock }: FleetOptions): Promise<Fleet> {
  const sandbox = await startSandbox({ clusters: fleetNames(clusters) });
  for (const [number, cluster] of sandbox.clusters.entries()) furnish(cluster, number, nodeCount);
  const ending = new AbortController();
  const seen = keepSeen(sandbox.clusters, clock, ending.signal);
  const stop = async (): Promise<void> => {
    ending.abort();
    await seen;
    await sandbox.stop();
  };
  return { sandbox, stop };
}

function furnish(cluster: SandboxCluster, number: number, nodeCount: number): void {
  cluster.store.create(customResourceDefinitions, peerCrd());
  for (let index = 0; index < nodeCount; index++) {
    cluster.store.create(nodes, fleetNode(number, index, `${cluster.name}-${index + 1}`));
  }
}

const lastSeenEveryMs = 30_000;

async function keepSeen(clusters: readonly SandboxCluster[], clock: Clock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(lastSeenEveryMs, signal).catch(() => undefined);
    if (signal.aborted) return;
    const seen = String(Math.floor(clock.date().getTime() / 1000));
    const body = { metadata: { annotations: { "kilo.squat.ai/last-seen": seen } } };
    for (const { store } of clusters) for (const { metadata } of store.list(nodes)) store.patch(nodes, metadata, body);
  }
}
