import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ClusterMeshObject, clusterMeshes } from "../src/api/cluster-mesh.ts";
import { nodes } from "../src/api/kilo-node.ts";
import { peers } from "../src/api/kilo-peer.ts";
import { nodeAnnotations } from "../src/api/names.ts";
import { systemClock } from "../src/runtime/clock.ts";
import { networksOf } from "../src/sandbox/fleet.ts";
import type { SandboxCluster } from "../src/sandbox/sandbox.ts";
import { eventually } from "./support/eventually.ts";
import { OperatedFleet } from "./support/operated-fleet.ts";

/** The hub is in two meshes, with one other cluster in each. */
const [hub, ours, theirs] = [0, 1, 2] as const;
const namespace = "kilo-system";
/** Whoever is told this waits for minutes before the next try. */
const refusal = { kind: "status", code: 429, retryAfterSeconds: 300 } as const;

let fleet: OperatedFleet;

const cluster = (number: number): SandboxCluster => fleet.cluster(number);

beforeEach(async () => {
  fleet = await OperatedFleet.open({ clusters: 3, nodes: 1, clock: systemClock });
  await fleet.operate();
});
afterEach(() => fleet.stop());

function createMesh(name: string, other: number): void {
  const clusters = [hub, other].map((number) => {
    const there = cluster(number).name;
    const reach = number === hub ? { local: true } : { kubeconfigSecretRef: { name: `${there}-kubeconfig` } };
    return { name: there, ...reach, ...networksOf(number) };
  });
  const metadata = { namespace, name };
  const object: ClusterMeshObject = {
    apiVersion: "kilo.squat.ai/v1alpha1",
    kind: "ClusterMesh",
    metadata,
    spec: { clusters },
  };
  cluster(hub).store.create(clusterMeshes, object);
}

function trigger(name: string, value: string): void {
  const body = { metadata: { annotations: { "reconcile-trigger": value } } };
  cluster(hub).store.patch(clusterMeshes, { namespace, name }, body);
}

const peersOf = (mesh: string, number: number) =>
  cluster(number)
    .store.list(peers)
    .filter(({ metadata }) => metadata.labels?.["kilo-clustermesh.io/mesh"] === mesh);
const isJoined = (mesh: string, number: number): void => {
  for (const member of [hub, number]) expect(peersOf(mesh, member)).toHaveLength(1);
};
const lists = (number: number): number =>
  cluster(number).requests.count({ verb: "list", resource: "nodes", userAgent: "operator" });
/** Less than a refusal lasts, by far. */
const soon = { withinMs: 10_000 };

describe("a new reconcile-trigger on a mesh", () => {
  it("has its clusters listed anew, so that what a watch has lost is found, and no cluster of others", async () => {
    createMesh("ours", ours);
    createMesh("theirs", theirs);
    await eventually(() => isJoined("ours", ours));
    await eventually(() => isJoined("theirs", theirs));
    const { faults, store } = cluster(ours);
    faults.add({ match: { verb: "watch", resource: "nodes" }, do: { kind: "drop-event" } });
    const annotations = { [nodeAnnotations.forceEndpoint]: "198.18.1.99:51820" };
    store.patch(nodes, { name: "cluster-b-1" }, { metadata: { annotations } });
    const before = lists(theirs);
    trigger("ours", "1");
    const endpoint = () => peersOf("ours", hub)[0]?.spec.endpoint?.dnsOrIP.ip;
    await eventually(() => expect(endpoint()).toBe("198.18.1.99"), soon);
    expect(lists(theirs)).toBe(before);
  });

  it("does not wait for the next try of a cluster that has refused, and asks it no more than once in some seconds", async () => {
    const calm = cluster(ours).faults.add({ match: { verb: "list", resource: "nodes" }, do: refusal });
    createMesh("ours", ours);
    await eventually(() => expect(lists(ours)).toBe(1));
    calm();
    for (let value = 0; value < 30; value++) {
      trigger("ours", String(value));
      await delay(50);
    }
    await eventually(() => isJoined("ours", ours), soon);
    expect(lists(ours)).toBeLessThan(5);
  });

  it("does not wait for the next try to read a Secret of it", async () => {
    const match = { verb: "list", resource: "secrets", namespace } as const;
    const calm = cluster(hub).faults.add({ match, do: refusal });
    createMesh("ours", ours);
    await eventually(() => expect(cluster(hub).requests.count({ verb: "list", resource: "secrets" })).toBe(1));
    calm();
    trigger("ours", "1");
    await eventually(() => isJoined("ours", ours), soon);
  });
});
