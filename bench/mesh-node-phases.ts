import { setTimeout as delay } from "node:timers/promises";
import { putAtOnce, putInTurn, untilAllHave } from "./mesh-node-documents.ts";
import type { LinkWatch } from "./mesh-node-links.ts";
import type { Cost, PodBed, PodProcess } from "./mesh-node-pods.ts";

/** The nodes of all pods, in the order of the pods. */
export interface Mesh {
  readonly bed: PodBed;
  readonly watch: LinkWatch;
  readonly ids: readonly string[];
  /** How many pods come in each; the last wave leaves and joins again. */
  readonly waves: readonly number[];
}

/** From the moment in which the slice is written until the link is up on both sides, for every link. */
export interface LinkTimes {
  /** Wave after wave, from the first pods to all. */
  readonly growMs: readonly number[];
  /** The last wave, in all rounds. */
  readonly joinMs: readonly number[];
  /** The last link of each round. */
  readonly lastMs: readonly number[];
}

const withinMs = 90_000;

export async function measureLinks(mesh: Mesh, rounds: number): Promise<LinkTimes> {
  const growMs: number[] = [];
  for (let wave = 1; wave <= mesh.waves.length; wave++) {
    say(`wave ${wave} of ${mesh.waves.length}`);
    growMs.push(...(await join(mesh, wave)));
  }
  const joinMs: number[] = [];
  const lastMs: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    say(`round ${round} of ${rounds}: the last wave leaves and joins`);
    await leave(mesh);
    const times = await join(mesh, mesh.waves.length);
    joinMs.push(...times);
    lastMs.push(Math.max(...times));
  }
  return { growMs, joinMs, lastMs };
}

/** The slice holds the first waves, and they see it. Only links that were not there before count. */
async function join({ bed, watch, ids, waves }: Mesh, count: number): Promise<readonly number[]> {
  const pods = sumOf(waves.slice(0, count));
  const eventMs = await bed.publish(pods, count);
  const upAtMs = await watch.untilMeshed(ids.slice(0, pods), withinMs);
  return [...upAtMs.values()].filter((atMs) => atMs >= eventMs).map((atMs) => atMs - eventMs);
}

async function leave({ bed, watch, ids, waves }: Mesh): Promise<void> {
  const pods = sumOf(waves.slice(0, -1));
  await bed.publish(pods, waves.length - 1);
  await watch.untilMeshed(ids.slice(0, pods), withinMs);
}

export const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0);

export interface DocumentTimes {
  /** Put on one node at once, and on it alone in the end. */
  readonly count: number;
  /** Put by a node that is linked to all others: until the last was durable there, and until all nodes had all. */
  readonly durableMs: number;
  readonly everywhereMs: number;
  /** Of all nodes for that. */
  readonly cpuMs: number;
  /** One after the other, each. */
  readonly inTurnMs: readonly number[];
  /** Put by a node without links. */
  readonly aloneMs: number;
  /** From the slice by which the others find that node until all have all. */
  readonly catchUpMs: number;
}

const inTurn = 200;

/** How many documents there are afterwards. */
export const documentsAfter = (count: number): number => 2 * count + inTurn;

export async function measureDocuments(
  mesh: Mesh,
  processes: readonly PodProcess[],
  count: number,
): Promise<DocumentTimes> {
  const nodes = processes.map(({ node }) => node);
  const [node] = nodes;
  if (!node) throw new Error("no node");
  say(`${count} documents on one of ${nodes.length} linked nodes`);
  const cpuBeforeMs = cpuMsOf(await costsOf(processes));
  const startedMs = performance.now();
  const durableMs = await putAtOnce(node, "linked", count);
  await untilAllHave(nodes, count, withinMs);
  const everywhereMs = performance.now() - startedMs;
  const cpuMs = cpuMsOf(await costsOf(processes)) - cpuBeforeMs;
  say(`${inTurn} documents in turn`);
  const inTurnMs = await putInTurn(node, "turn", inTurn);
  await untilAllHave(nodes, count + inTurn, withinMs);
  await mesh.bed.publish(0, 1);
  await mesh.watch.untilMeshed([], withinMs);
  say(`${count} documents on a node without links`);
  const aloneMs = await putAtOnce(node, "alone", count);
  const eventMs = await mesh.bed.publish(mesh.ids.length, mesh.waves.length);
  await untilAllHave(nodes, documentsAfter(count), withinMs);
  return { count, durableMs, everywhereMs, cpuMs, inTurnMs, aloneMs, catchUpMs: Date.now() - eventMs };
}

const idleMs = 6_000;

/** RSS of each process, and CPU of all of them in a second, while nothing happens. */
export interface Idle {
  readonly rssMib: readonly number[];
  readonly cpuMsPerSecond: number;
}

export async function measureIdle(processes: readonly Costly[]): Promise<Idle> {
  const before = await costsOf(processes);
  await delay(idleMs);
  const after = await costsOf(processes);
  return {
    rssMib: after.map(({ rssMib }) => rssMib),
    cpuMsPerSecond: (cpuMsOf(after) - cpuMsOf(before)) / (idleMs / 1000),
  };
}

interface Costly {
  cost(): Promise<Cost>;
}

const costsOf = (processes: readonly Costly[]): Promise<Cost[]> => Promise.all(processes.map((each) => each.cost()));

const cpuMsOf = (costs: readonly Cost[]): number => sumOf(costs.map(({ cpuSeconds }) => cpuSeconds * 1000));

export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
