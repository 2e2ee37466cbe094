import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import {
  type KubernetesDiscoveryOptions,
  startKubernetesDiscovery,
} from "../../src/mesh-node/discovery/discover-kubernetes.ts";
import type { Discovery, Member } from "../../src/mesh-node/discovery/member.ts";
import type { EndpointId } from "../../src/mesh-node/identity.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { envOf } from "../../test/support/discovering.ts";
import { eventually } from "../../test/support/eventually.ts";
import { fieldLogger, type LogLine } from "../../test/support/field-logger.ts";
import { type ControlPlane, startControlPlane } from "../control-plane/control-plane.ts";
import type { RealCluster } from "../control-plane/real-cluster.ts";
import { Pods } from "./pods.ts";

const namespace = "mesh";
const slices = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`;
const reading = ["get", "list", "watch"];

let controlPlane: ControlPlane;
let cluster: RealCluster;
let pods: Pods;
const stops: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  controlPlane = await startControlPlane({ clusters: 1, controllerManager: true });
  cluster = controlPlane.clusters[0] as RealCluster;
  pods = new Pods(cluster, namespace);
  await allow(reading);
  await pods.createService();
  for (const n of [0, 1, 2]) await pods.run(`peat-${n}`, `10.44.0.1${n}`);
});

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

afterAll(() => controlPlane?.stop());

/** The token of an account that may do this with the slices of its namespace, and nothing else. */
async function allow(verbs: readonly string[]): Promise<string> {
  const roleRules = [{ apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs }];
  const text = await cluster.scopedKubeconfig({ name: "mesh-node", namespace, roleRules });
  return parse(text).users[0].user.token;
}

interface Started {
  readonly discovery: Discovery;
  readonly told: (readonly Member[])[];
  readonly log: LogLine[];
  readonly names: () => readonly string[];
}

async function start(overrides: Partial<KubernetesDiscoveryOptions> = {}): Promise<Started> {
  const directory = await mkdtemp(join(tmpdir(), "service-account-"));
  const files = { "ca.crt": cluster.caPem, token: await allow(reading), namespace };
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
  const told: (readonly Member[])[] = [];
  const log: LogLine[] = [];
  const discovery = startKubernetesDiscovery({
    labelSelector: "app=peat-node",
    annotationPrefix: "peat.",
    intervalMs: 30_000,
    defaultPort: 1,
    env: envOf(cluster.url),
    directory,
    clock: systemClock,
    log: fieldLogger(log),
    onMembers: (members) => told.push(members),
    ...overrides,
  });
  stops.push(
    () => discovery.close(),
    () => rm(directory, { recursive: true }),
  );
  return { discovery, told, log, names: () => discovery.members().map(({ name }) => name) };
}

test("the slices of the real controller lead to every pod, at its link port", async () => {
  const { discovery, names } = await start();
  await eventually(() => expect(names()).toEqual(["peat-0", "peat-1", "peat-2"]));
  expect(discovery.members().map(({ addresses }) => addresses)).toEqual([
    ["10.44.0.10:4433"],
    ["10.44.0.11:4433"],
    ["10.44.0.12:4433"],
  ]);
  expect(discovery.members()[0]).toMatchObject({ isPod: true, podNamespace: namespace, dialable: true });
});

test("pods that come, are not ready, terminate and leave are seen as they do", async () => {
  const { discovery, names } = await start();
  const dialable = () => Object.fromEntries(discovery.members().map((member) => [member.name, member.dialable]));
  await eventually(() => expect(names()).toHaveLength(3));
  const began = performance.now();
  for (const n of [3, 4]) await pods.run(`peat-${n}`, `10.44.0.1${n}`);
  await eventually(() => expect(names()).toHaveLength(5), { everyMs: 5 });
  console.log(`discovery: 3 → 5 pods known ${Math.round(performance.now() - began)} ms after they were created`);
  await pods.setStatus("peat-3", { ip: "10.44.0.13", ready: false });
  await eventually(() => expect(dialable()).toMatchObject({ "peat-3": false, "peat-4": true }));
  await pods.terminate("peat-4");
  await eventually(() => expect(dialable()).toMatchObject({ "peat-4": false }));
  for (const n of [3, 4]) await pods.remove(`peat-${n}`);
  await eventually(() => expect(names()).toEqual(["peat-0", "peat-1", "peat-2"]));
});

test("a pod that comes back under its name with another address is found there", async () => {
  const { discovery } = await start();
  await pods.run("peat-5", "10.44.0.15");
  await eventually(() => expect(discovery.members().at(-1)?.addresses).toEqual(["10.44.0.15:4433"]));
  await pods.remove("peat-5");
  await pods.run("peat-5", "10.44.0.55");
  await eventually(() =>
    expect(discovery.members().at(-1)).toMatchObject({ addresses: ["10.44.0.55:4433"], dialable: true }),
  );
  await pods.remove("peat-5");
});

test("without the right to patch it is said which one is missing; with it the id stays on the slice", async () => {
  const publish = { podName: "peat-0", endpointId: "c".repeat(64) as EndpointId };
  const { log, names } = await start({ publish });
  await eventually(() => expect(log).toContainEqual(expect.objectContaining({ level: "warn" })));
  expect(log.filter(({ level }) => level === "warn")).toMatchObject([
    { fields: { reason: "PatchForbidden", namespace } },
  ]);
  const other = await start();
  const seen = () => other.discovery.members()[0];
  await allow([...reading, "patch"]);
  await eventually(() => expect(seen()).toMatchObject({ name: "peat-0", endpointId: publish.endpointId }));
  await pods.run("peat-6", "10.44.0.16");
  await eventually(() => expect(names()).toContain("peat-6"));
  const { items } = await cluster.requestJson<{ items: { metadata: { annotations: object } }[] }>({ path: slices });
  expect(items.map(({ metadata }) => metadata.annotations)).toMatchObject([
    { "peat.endpoint_id.peat-0": publish.endpointId },
  ]);
  await pods.remove("peat-6");
  await allow(reading);
});

test("another namespace than the one it has rights in is a clear problem, and no more", async () => {
  const { discovery, log } = await start({ namespace: "kube-system" });
  await eventually(() => expect(discovery.state().problem).toContain("Forbidden: "));
  expect(log.filter(({ level }) => level === "warn")).toMatchObject([{ fields: { namespace: "kube-system" } }]);
});

test("an API server that stops and comes back takes nobody away", async () => {
  const { discovery, names, told } = await start();
  await eventually(() => expect(names()).toHaveLength(3));
  await cluster.stopServer();
  await eventually(() => expect(discovery.state().known).toBe(false));
  expect(names()).toHaveLength(3);
  await cluster.startServer();
  const began = performance.now();
  await eventually(() => expect(discovery.state().known).toBe(true), { withinMs: 60_000 });
  console.log(`discovery: known again ${Math.round(performance.now() - began)} ms after the API server was back`);
  await pods.run("peat-7", "10.44.0.17");
  await eventually(() => expect(names()).toContain("peat-7"), { withinMs: 60_000 });
  expect(told.every((members) => members.length >= 3)).toBe(true);
  await pods.remove("peat-7");
});
