import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { createClient } from "../../src/kube/http-client.ts";
import { Informer } from "../../src/kube/informer.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { nodes } from "../../src/kube/resource.ts";
import { compareVersions } from "../../src/kube/resource-version.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { silentLogger } from "../../src/runtime/log.ts";
import { seededRandom } from "../../src/sandbox/random.ts";
import { type SandboxCluster, startSandbox } from "../../src/sandbox/sandbox.ts";
import { eventually } from "../support/eventually.ts";
import { createNode, storm, total } from "./storm.ts";

const clusterCount = 100;
const faultCount = 5_000;

interface NodeFact {
  readonly resourceVersion: string | undefined;
  readonly value: string | undefined;
}

const factOf = ({ metadata }: KubeObject): NodeFact => ({
  resourceVersion: metadata.resourceVersion,
  value: metadata.labels?.value,
});

/** An informer in a hurry: what takes minutes in a quiet cluster takes seconds here. */
function follow(cluster: SandboxCluster) {
  const config = { server: cluster.url, caPem: cluster.caPem, token: cluster.adminToken, compress: false };
  const client = createClient(config, { cluster: cluster.name });
  const informer = new Informer<KubeObject, NodeFact>({
    client,
    resource: nodes,
    decode: factOf,
    same: (before, after) => before.resourceVersion === after.resourceVersion && before.value === after.value,
    clock: systemClock,
    log: silentLogger,
    pageSize: 3,
    watchTimeoutSeconds: { min: 2, max: 4 },
    relistEveryMs: 3_000,
    backoff: { firstMs: 20, maxMs: 1_000 },
  });
  const wentBack: string[] = [];
  const newest = new Map<string, string>();
  informer.onChange(({ key, after }) => {
    const version = after?.resourceVersion ?? "";
    if (after && compareVersions(version, newest.get(key) ?? "") <= 0) wentBack.push(`${cluster.name} ${key}`);
    if (after) newest.set(key, version);
  });
  informer.start();
  return { cluster, client, informer, wentBack };
}

/** What keeps the process alive, counted by kind; the timer that woke us is not yet gone in its own turn. */
async function heldResources(): Promise<Record<string, number>> {
  await nextTurn();
  const counts: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

test("100 clusters, 5000 faults: every informer ends with the server's state, and nothing is left behind", async () => {
  await delay(100);
  const before = await heldResources();
  const seed = Number(process.env.CAMPAIGN_SEED ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`CAMPAIGN_SEED=${seed}`);
  const startedAt = performance.now();
  const names = Array.from({ length: clusterCount }, (_, index) => `cluster-${index}`);
  const sandbox = await startSandbox({ clusters: names, seed, bookmarkEveryMs: 1_000 });
  for (const cluster of sandbox.clusters) for (let i = 0; i < 5; i++) createNode(cluster, `node-${i}`);
  const followers = sandbox.clusters.map(follow);
  try {
    const random = seededRandom(seed);
    const faults = await storm({ clusters: sandbox.clusters, random, faults: faultCount, maxMs: 60_000 });
    const stormMs = performance.now() - startedAt;
    for (const { cluster, informer } of followers) await eventually(() => expectSame(cluster, informer));
    const healMs = performance.now() - startedAt - stormMs;
    console.log(`faults: ${total(faults)} ${JSON.stringify(faults)}`);
    console.log(`storm ${Math.round(stormMs)} ms, equal after ${Math.round(healMs)} ms`);
    expect(total(faults)).toBeGreaterThanOrEqual(faultCount);
    expect(followers.flatMap(({ wentBack }) => wentBack)).toEqual([]);
  } finally {
    await Promise.all(followers.map(({ informer }) => informer.stop()));
    for (const { client } of followers) client.close();
    await sandbox.stop();
  }
  await eventually(async () => expect(await heldResources()).toEqual(before), { message: "something is left behind" });
}, 150_000);

function expectSame(cluster: SandboxCluster, informer: Informer<KubeObject, NodeFact>): void {
  const wanted = cluster.store.list(nodes).map((node): [string, NodeFact] => [node.metadata.name, factOf(node)]);
  expect(Object.fromEntries(informer.entries())).toEqual(Object.fromEntries(wanted));
  expect(informer.knowledge.state).toBe("known");
}
