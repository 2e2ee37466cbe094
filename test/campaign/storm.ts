import { setTimeout as delay } from "node:timers/promises";
import type { KubeObject } from "../../src/kube/object.ts";
import { nodes } from "../../src/kube/resource.ts";
import type { FaultRule } from "../../src/sandbox/faults.ts";
import type { Random } from "../../src/sandbox/random.ts";
import type { SandboxCluster } from "../../src/sandbox/sandbox.ts";

export interface StormOptions {
  readonly clusters: readonly SandboxCluster[];
  readonly random: Random;
  /** It goes on until so many faults have happened … */
  readonly faults: number;
  /** … but not for longer than this. */
  readonly maxMs: number;
}

/** Happens to every cluster, all the time. */
const weather: readonly FaultRule[] = [
  { probability: 0.15, do: { kind: "latency", ms: 80 } },
  { probability: 0.05, do: { kind: "refuse" } },
  ...[401, 403, 409, 410, 429, 500, 503, 504].map(
    (code): FaultRule => ({
      probability: 0.03,
      do: { kind: "status", code, ...(code === 429 && { retryAfterSeconds: 1 }) },
    }),
  ),
  { match: { verb: "list" }, probability: 0.04, do: { kind: "garbage" } },
  { match: { verb: "watch" }, probability: 0.02, do: { kind: "garbage" } },
  { match: { verb: "list" }, probability: 0.1, do: { kind: "stale-list", behind: 7 } },
  { match: { verb: "watch" }, probability: 0.05, do: { kind: "cut-watch", afterEvents: 2 } },
  { match: { verb: "watch" }, probability: 0.03, do: { kind: "stall-watch", afterEvents: 1 } },
  { match: { verb: "watch" }, probability: 0.05, do: { kind: "drop-event" } },
  { match: { verb: "watch" }, probability: 0.05, do: { kind: "duplicate-event" } },
];

/** Happens to one cluster, once. */
const strokes: Readonly<Record<string, (cluster: SandboxCluster) => unknown>> = {
  compaction: (cluster) => cluster.compact(),
  goaway: (cluster) => cluster.goaway(),
  "all watches cut": (cluster) => cluster.cutWatches(),
  // The old listener ends with its last connection, which may be later: a connection can be half open just now.
  "server restart": (cluster) => Promise.race([cluster.stopListening(), cluster.startListening()]),
};

/** Bad weather over clusters whose nodes come, change and go. Returns how often each kind of fault happened. */
export async function storm(options: StormOptions): Promise<Record<string, number>> {
  const { clusters, random, faults, maxMs } = options;
  const struck: Record<string, number> = {};
  const end = performance.now() + maxMs;
  for (const cluster of clusters) for (const rule of weather) cluster.faults.add(rule);
  while (performance.now() < end && total(countFaults(clusters, struck)) < faults) {
    for (let i = 0; i < 20; i++) changeNodes(pick(clusters, random), random);
    const [name, strike] = pick(Object.entries(strokes), random);
    await strike(pick(clusters, random));
    struck[name] = (struck[name] ?? 0) + 1;
    await delay(20);
  }
  for (const cluster of clusters) cluster.faults.clear();
  return countFaults(clusters, struck);
}

export function total(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

export function createNode(cluster: SandboxCluster, name: string): void {
  cluster.store.create(nodes, { metadata: { name, labels: { value: "0" } } } as KubeObject);
}

function changeNodes(cluster: SandboxCluster, random: Random): void {
  const name = `node-${Math.floor(random() * 8)}`;
  const known = cluster.store.find(nodes, { name });
  if (!known) createNode(cluster, name);
  else if (random() < 0.2) cluster.store.delete(nodes, { name });
  else cluster.store.patch(nodes, { name }, { metadata: { labels: { value: String(random()) } } });
}

function countFaults(clusters: readonly SandboxCluster[], struck: Record<string, number>): Record<string, number> {
  const counts = { ...struck };
  for (const { faults } of clusters)
    for (const [kind, count] of Object.entries(faults.injected)) counts[kind] = (counts[kind] ?? 0) + count;
  return counts;
}

function pick<T>(items: readonly T[], random: Random): T {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error("nothing to pick from");
  return item;
}
