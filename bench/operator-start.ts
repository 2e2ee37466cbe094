import { type PeerObject, peers } from "../src/api/kilo-peer.ts";
import type { Child, Children } from "./children.ts";
import type { Arena } from "./operator-arena.ts";
import type { FloorDone, FloorOrder, FloorRun } from "./operator-floor.ts";
import { startOver } from "./operator-mesh.ts";
import { type OperatorProcess, startOperatorProcess } from "./operator-process.ts";
import type { PeerWatch } from "./operator-watch.ts";

/** Everything that a phase of the benchmark works with. */
export interface Bench {
  readonly arena: Arena;
  readonly watch: PeerWatch;
  readonly children: Children;
  /** In each cluster. */
  readonly nodes: number;
}

export interface Starts {
  readonly operator: readonly StartTimes[];
  readonly floorMs: readonly number[];
  readonly renumberFloorMs: readonly number[];
}

/** From the start of the process. */
export interface StartTimes {
  readonly firstPeerMs: number;
  readonly lastPeerMs: number;
}

/** Starts the operator and the bare loop in turn, each on clusters without Peers. */
export async function measureStarts(bench: Bench, rounds: number): Promise<Starts> {
  const times: StartTimes[] = [];
  const floors: Floors[] = [];
  let written: readonly (readonly PeerObject[])[] = [];
  for (let round = 1; round <= rounds; round++) {
    process.stderr.write(`start ${round} of ${rounds}: operator\n`);
    const { operator, ...started } = await startConverged(bench);
    times.push(started);
    await operator.stop();
    written = await listPeers(bench.arena);
    process.stderr.write(`start ${round} of ${rounds}: bare loop\n`);
    floors.push(await measureFloor(bench, written));
  }
  return {
    operator: times,
    floorMs: floors.map(({ createMs }) => createMs),
    renumberFloorMs: floors.map(({ renumberMs }) => renumberMs),
  };
}

/** An operator that has just written every Peer of the mesh. */
export async function startConverged(bench: Bench): Promise<StartTimes & { operator: OperatorProcess }> {
  const { arena, watch, nodes } = bench;
  await empty(bench);
  const first = watch.untilSome();
  const operator = await startOperatorProcess(arena);
  const lastAtMs = await watch.untilEachHolds((arena.clusters.length - 1) * nodes);
  operator.alive();
  const { startedAtMs } = operator;
  return { operator, firstPeerMs: (await first) - startedAtMs, lastPeerMs: lastAtMs - startedAtMs };
}

async function empty({ arena, watch }: Bench): Promise<void> {
  watch.forgetCarriers();
  await startOver(arena.clusters);
  await watch.untilEachHolds(0);
  watch.forgetCarriers();
}

interface Floors {
  readonly createMs: number;
  readonly renumberMs: number;
}

async function measureFloor(bench: Bench, written: readonly (readonly PeerObject[])[]): Promise<Floors> {
  const { arena, watch, nodes } = bench;
  await empty(bench);
  const floor = startFloor(bench);
  await order(floor, { kind: "load", peers: written });
  const startedAtMs = performance.now();
  const created = order(floor, { kind: "create" });
  const seenAtMs = await watch.untilEachHolds((arena.clusters.length - 1) * nodes);
  await created;
  const renumberMs = await order(floor, { kind: "renumber", source: arena.clusters.at(-1)?.name ?? "" });
  await floor.stop();
  return { createMs: seenAtMs - startedAtMs, renumberMs };
}

/** The process of the bare loop. */
export function startFloor({ arena, children }: Bench): Child {
  const clusters = arena.clusters.map(({ name, kubeconfig }) => ({ name, kubeconfig }));
  return children.start("operator-floor.ts", { clusters } satisfies FloorRun);
}

/** How long it took. */
export async function order(floor: Child, what: FloorOrder): Promise<number> {
  floor.send(what);
  return (await floor.next<FloorDone>("done")).ms;
}

async function listPeers({ clusters }: Arena): Promise<PeerObject[][]> {
  const lists = await Promise.all(clusters.map(({ admin }) => admin.list(peers)));
  return lists.map(({ items }) => items.map(asNew));
}

/** Without what the server has added. */
function asNew({ metadata: { name, labels = {}, annotations = {} }, spec }: PeerObject): PeerObject {
  return { apiVersion: "kilo.squat.ai/v1alpha1", kind: "Peer", metadata: { name, labels, annotations }, spec };
}
