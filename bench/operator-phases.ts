import { setTimeout as delay } from "node:timers/promises";
import { nodes } from "../src/api/kilo-node.ts";
import { isKubeError } from "../src/kube/errors.ts";
import { mapLimited } from "../src/runtime/limit.ts";
import type { Child } from "./children.ts";
import { lastSeenAnnotation } from "./objects.ts";
import { annotationsOf, type BenchCluster, firstPort, meshNode, nodeNameOf } from "./operator-mesh.ts";
import type { OperatorProcess } from "./operator-process.ts";
import { type Bench, order } from "./operator-start.ts";

/** A mesh with an operator at work. */
export interface Subject extends Bench {
  readonly operator: OperatorProcess;
}

export interface ChangePlan {
  readonly samples: number;
  /** Differs from phase to phase, so that every change is one. */
  readonly fromPort: number;
}

export interface ChangeTimes {
  /** From the moment the driver begins to write the Node until it has seen the last Peer. */
  readonly changeMs: readonly number[];
  /** The same, from the answer to the driver's write. */
  readonly afterAnswerMs: readonly number[];
  /** One Peer written to every other cluster at once by the bare loop, in turn with the changes. */
  readonly writeMs: readonly number[];
}

/** One node after another gets another endpoint; in between the bare loop writes one Peer to as many clusters. */
export async function measureChanges(
  { operator, ...bench }: Subject,
  floor: Child,
  plan: ChangePlan,
): Promise<ChangeTimes> {
  const times = { changeMs: [] as number[], afterAnswerMs: [] as number[], writeMs: [] as number[] };
  const { clusters } = bench.arena;
  for (let sample = 0; sample < plan.samples; sample++) {
    const source = sample % clusters.length;
    const index = Math.floor(sample / clusters.length) % bench.nodes;
    const change = await changeNode(bench, { source, index, port: plan.fromPort + sample });
    times.changeMs.push(change.seenAtMs - change.begunAtMs);
    times.afterAnswerMs.push(change.seenAtMs - change.answeredAtMs);
    await operator.rests();
    times.writeMs.push(await order(floor, { kind: "write", except: source, port: plan.fromPort + sample }));
    await operator.rests();
  }
  return times;
}

interface NodeChange {
  readonly source: number;
  readonly index: number;
  readonly port: number;
}

async function changeNode({ arena, watch }: Bench, { source, index, port }: NodeChange) {
  const cluster = at(arena.clusters, source);
  const name = nodeNameOf(cluster, index);
  const begunAtMs = performance.now();
  const seen = watch.untilOthers(source, name, (peer) => peer?.port === port);
  await cluster.admin.patch(
    nodes,
    { name },
    { body: { metadata: { annotations: annotationsOf(source, index, { port }) } } },
  );
  const answeredAtMs = performance.now();
  return { begunAtMs, answeredAtMs, seenAtMs: await seen };
}

/** New nodes, one after another. */
export async function measureJoins(
  { arena, watch, operator, nodes: count }: Subject,
  samples: number,
): Promise<number[]> {
  const times: number[] = [];
  for (let sample = 0; sample < samples; sample++) {
    const { source, index } = newcomer(arena.clusters, count, sample);
    const cluster = at(arena.clusters, source);
    const name = nodeNameOf(cluster, index);
    const begunAtMs = performance.now();
    const seen = watch.untilOthers(source, name, (peer) => peer !== undefined);
    await cluster.admin.create(nodes, meshNode(source, index, name));
    times.push((await seen) - begunAtMs);
    await operator.rests();
  }
  return times;
}

const graceMs = 30_000;

/** The same nodes leave; what is left of each time after the 30 s in which a node may come back. */
export async function measureLeaves({ arena, watch, nodes: count }: Bench, samples: number): Promise<number[]> {
  const leaving = Array.from({ length: samples }, async (_, sample) => {
    const { source, index } = newcomer(arena.clusters, count, sample);
    const cluster = at(arena.clusters, source);
    const name = nodeNameOf(cluster, index);
    await delay(sample * 300);
    const begunAtMs = performance.now();
    const seen = watch.untilOthers(source, name, (peer) => peer === undefined);
    await cluster.admin.delete(nodes, { name });
    return (await seen) - begunAtMs - graceMs;
  });
  return Promise.all(leaving);
}

function newcomer(clusters: readonly BenchCluster[], count: number, sample: number) {
  return { source: sample % clusters.length, index: count + Math.floor(sample / clusters.length) };
}

const patchesAtOnce = 8;

/** All nodes of the last cluster get another WireGuard address at once. */
export async function measureRenumbering({ arena, watch, nodes: count }: Bench, renumbered: boolean): Promise<number> {
  const source = arena.clusters.length - 1;
  const cluster = at(arena.clusters, source);
  const indexes = Array.from({ length: count }, (_, index) => index);
  const begunAtMs = performance.now();
  const seen = indexes.map((index) => {
    const [route = ""] = annotationsOf(source, index, { renumbered })["kilo.squat.ai/wireguard-ip"]?.split("/") ?? [];
    return watch.untilOthers(source, nodeNameOf(cluster, index), (peer) => !!peer?.allowedIps.includes(`${route}/32`));
  });
  await mapLimited(indexes, patchesAtOnce, (index) => {
    const body = { metadata: { annotations: annotationsOf(source, index, { renumbered, port: firstPort }) } };
    return cluster.admin.patch(nodes, { name: nodeNameOf(cluster, index) }, { body });
  });
  return Math.max(...(await Promise.all(seen))) - begunAtMs;
}

const lastSeenEveryMs = 30_000;

/** Every node says every 30 s that it lives, as Kilo does, evenly spread, until the returned function is called. */
export function beat({ arena, nodes: count }: Bench): () => Promise<void> {
  const ending = new AbortController();
  const everyMs = lastSeenEveryMs / (count * arena.clusters.length);
  const running = (async () => {
    const startedAtMs = performance.now();
    for (let turn = 0; !ending.signal.aborted; turn++) {
      const cluster = at(arena.clusters, turn % arena.clusters.length);
      const name = nodeNameOf(cluster, Math.floor(turn / arena.clusters.length) % count);
      const annotations = { [lastSeenAnnotation]: String(Math.floor(Date.now() / 1000)) };
      await cluster.admin.patch(nodes, { name }, { body: { metadata: { annotations } } }).catch(unlessGone);
      await delay(Math.max(0, startedAtMs + (turn + 1) * everyMs - performance.now()));
    }
  })();
  return async () => {
    ending.abort();
    await running;
  };
}

function unlessGone(error: unknown): void {
  if (!isKubeError(error, "not-found")) throw error;
}

function at(clusters: readonly BenchCluster[], number: number): BenchCluster {
  const cluster = clusters[number];
  if (!cluster) throw new Error(`no cluster ${number}`);
  return cluster;
}
