import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually } from "../../test/support/eventually.ts";
import { type ControlPlane, startControlPlane } from "../control-plane/control-plane.ts";
import type { RealCluster } from "../control-plane/real-cluster.ts";
import {
  applyMesh,
  buildBundle,
  byOperator,
  furnish,
  isLease,
  isOpenWatch,
  nodeNameOf,
  type OperatorProcess,
  peerNamesIn,
  quickStart,
  startOperator,
} from "./real-mesh.ts";

const nodesEach = 50;
const rounds = 3;
const lastSeenEveryMs = 30_000;

let plane: ControlPlane;
let operator: OperatorProcess;

beforeAll(async () => {
  await buildBundle();
  plane = await startControlPlane({ clusters: 2, audit: true });
  await furnish(plane, nodesEach);
  operator = await startOperator({ plane, args: ["--leader-elect"] });
  await applyMesh(plane, quickStart(2));
  for (const cluster of plane.clusters) {
    await eventually(async () => expect(await peerNamesIn(cluster)).toHaveLength(nodesEach));
  }
}, 180_000);

afterAll(async () => {
  await operator?.child.stop();
  await plane?.stop();
});

async function beat(cluster: RealCluster, number: number): Promise<void> {
  const lastSeen = String(Math.floor(Date.now() / 1000));
  const body = { metadata: { annotations: { "kilo.squat.ai/last-seen": lastSeen } } };
  for (let index = 0; index < nodesEach; index++) {
    const path = `/api/v1/nodes/${nodeNameOf(number, index)}`;
    await cluster.requestJson({ method: "PATCH", path, contentType: "application/merge-patch+json", body });
  }
}

/** What the operator asked for beside its open watches and its Lease, by the audit log's id. */
async function requests(): Promise<Map<string, string>> {
  const entries = (await Promise.all(plane.clusters.map((cluster) => cluster.audit()))).flat().filter(byOperator);
  const counted = entries.filter((entry) => !isLease(entry) && !isOpenWatch(entry));
  return new Map(counted.map(({ id, verb, uri }) => [id, `${verb} ${uri}`]));
}

/** The last status follows within ten seconds of the Peers; then nothing is left to do. */
async function settled(): Promise<ReadonlySet<string>> {
  for (let size = -1; ; ) {
    const now = await requests();
    if (now.size === size) return new Set(now.keys());
    size = now.size;
    await new Promise((resolve) => setTimeout(resolve, 11_000));
  }
}

it(`${2 * nodesEach} nodes that say every 30 s that they live cost the operator no request`, async () => {
  const before = await settled();
  for (let round = 0; round < rounds; round++) {
    await Promise.all(plane.clusters.map((cluster, number) => beat(cluster, number)));
    await new Promise((resolve) => setTimeout(resolve, round < rounds - 1 ? lastSeenEveryMs : 3000));
  }
  const more = [...(await requests())].filter(([id]) => !before.has(id)).map(([, request]) => request);
  expect(more).toEqual([]);
  console.log(`heartbeats: ${2 * nodesEach} nodes, ${rounds} rounds, ${more.length} requests`);
}, 180_000);
