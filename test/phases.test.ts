import { afterEach, beforeEach, expect, it } from "vitest";
import { clusterMeshes } from "../src/api/cluster-mesh.ts";
import { clusterMeshCrd, customResourceDefinitions } from "../src/api/crd.ts";
import { type NodeObject, nodes } from "../src/api/kilo-node.ts";
import { peers } from "../src/api/kilo-peer.ts";
import { nodeAnnotations } from "../src/api/names.ts";
import { demoMesh, demoSummary, prepareDemo } from "../src/cli/demo-mesh.ts";
import { systemClock } from "../src/runtime/clock.ts";
import { silentLogger } from "../src/runtime/log.ts";
import { type Fleet, startFleet } from "../src/sandbox/fleet.ts";
import type { SandboxCluster } from "../src/sandbox/sandbox.ts";
import { eventually } from "./support/eventually.ts";
import { Hearing } from "./support/hearing.ts";
import { type RunningOperator, startOperator } from "./support/run-operator.ts";

let fleet: Fleet;
let operator: RunningOperator;

const cluster = (number: number): SandboxCluster => {
  const found = fleet.sandbox.clusters[number];
  if (!found) throw new Error(`no cluster ${number}`);
  return found;
};

beforeEach(async () => {
  fleet = await startFleet({ clusters: 2, nodes: 2, clock: systemClock });
  prepareDemo(fleet.sandbox);
  const kubeconfig = cluster(0).kubeconfig();
  const run = { kubeconfig, userAgent: "operator", clock: systemClock, log: silentLogger, hearing: new Hearing() };
  operator = startOperator(run);
  await eventually(() => cluster(0).store.get(customResourceDefinitions, { name: clusterMeshCrd().metadata.name }));
  cluster(0).store.create(clusterMeshes, demoMesh(fleet.sandbox));
  await eventually(() => expect(demoSummary(fleet.sandbox).ready).toBe(true));
});
afterEach(async () => {
  await operator.stop();
  await fleet.stop();
});

const routesThere = (): string[] =>
  cluster(1)
    .store.list(peers)
    .flatMap(({ spec }) => spec.allowedIPs);
const updates = () =>
  cluster(1).requests.all({ verb: "update", resource: "peers.kilo.squat.ai", userAgent: "operator" });

const addressOf = ({ metadata }: NodeObject): string =>
  metadata.annotations?.[nodeAnnotations.wireguardIp]?.split("/")[0] ?? "";

function sayAddress({ metadata }: NodeObject, address: string): void {
  const annotations = { [nodeAnnotations.wireguardIp]: `${address}/16` };
  cluster(0).store.patch(nodes, { name: metadata.name }, { metadata: { annotations } });
}

it("Kilo has time to digest that a Peer takes a route over before the other loses it", async () => {
  const [one, other] = cluster(0).store.list(nodes);
  if (!one || !other) throw new Error("two nodes are wanted");
  const before = updates().length;
  const moving = addressOf(other);
  const fresh = moving.replace(/\d+$/, "99");
  sayAddress(one, moving);
  sayAddress(other, fresh);
  await eventually(() => expect(routesThere()).toContain(`${fresh}/32`));
  const [taking, losing, ...more] = updates().slice(before);
  expect(routesThere().filter((route) => route === `${moving}/32`)).toHaveLength(1);
  expect(more).toEqual([]);
  expect((losing?.atMs ?? 0) - (taking?.atMs ?? 0)).toBeGreaterThan(150);
});
