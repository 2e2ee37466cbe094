import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ClusterMeshObject, clusterMeshes } from "../src/api/cluster-mesh.ts";
import { clusterMeshCrd, customResourceDefinitions } from "../src/api/crd.ts";
import { nodes } from "../src/api/kilo-node.ts";
import { peers } from "../src/api/kilo-peer.ts";
import { secrets } from "../src/api/kubeconfig-secret.ts";
import { nodeAnnotations } from "../src/api/names.ts";
import { prepareDemo } from "../src/cli/demo-mesh.ts";
import type { ConnectionConfig } from "../src/kube/connection-config.ts";
import { createClient } from "../src/kube/http-client.ts";
import { defaultConfig } from "../src/operator/config.ts";
import { runOperator } from "../src/operator/run-operator.ts";
import { digestMs } from "../src/operator/sync-target.ts";
import { systemClock } from "../src/runtime/clock.ts";
import { type Fleet, networksOf, startFleet } from "../src/sandbox/fleet.ts";
import type { SandboxCluster } from "../src/sandbox/sandbox.ts";
import { eventually } from "./support/eventually.ts";
import { fieldLogger, type LogLine } from "./support/field-logger.ts";
import { configOf } from "./support/run-operator.ts";

const [hub, shared, third] = [0, 1, 2] as const;
const namespace = "kilo-system";

let fleet: Fleet;
let stop: () => Promise<void>;
let lines: LogLine[];

const cluster = (number: number): SandboxCluster => {
  const found = fleet.sandbox.clusters[number];
  if (!found) throw new Error(`no cluster ${number}`);
  return found;
};

/** Every connection has a name of its own to the API servers: that of its token. */
const agentOf = ({ token }: ConnectionConfig): string => `operator ${typeof token === "string" ? token : ""}`;

beforeEach(async () => {
  fleet = await startFleet({ clusters: 3, nodes: 1, clock: systemClock });
  prepareDemo(fleet.sandbox);
  const connect = (name: string, there: ConnectionConfig) =>
    createClient(there, { cluster: name, userAgent: agentOf(there) });
  const localConfig = configOf(cluster(hub).kubeconfig());
  const client = connect("local", localConfig);
  const ending = new AbortController();
  lines = [];
  const ports = { client, localConfig, connect, clock: systemClock, log: fieldLogger(lines) };
  const running = runOperator({ ...defaultConfig, allow: new Set(["loopback"]) }, ports, ending.signal);
  stop = async () => {
    ending.abort();
    await running.catch(() => undefined).finally(() => client.close());
  };
  await eventually(() => cluster(hub).store.get(customResourceDefinitions, { name: clusterMeshCrd().metadata.name }));
});
afterEach(async () => {
  await stop();
  await fleet.stop();
});

interface Member {
  readonly number: number;
  /** How it is reached; the local one without. */
  readonly secret?: string;
  readonly persistentKeepalive?: number;
}

function meshOf(name: string, members: readonly Member[]): ClusterMeshObject {
  const clusters = members.map(({ number, secret, ...rest }) => {
    const { podCIDRs, wireguardCIDR } = networksOf(number);
    const reach = secret ? { kubeconfigSecretRef: { name: secret } } : { local: true };
    return { name: cluster(number).name, ...reach, ...rest, allowedNetworks: [...podCIDRs, wireguardCIDR] };
  });
  return {
    apiVersion: "kilo.squat.ai/v1alpha1",
    kind: "ClusterMesh",
    metadata: { namespace, name },
    spec: { clusters },
  };
}

async function createMesh(name: string, members: readonly Member[]): Promise<void> {
  cluster(hub).store.create(clusterMeshes, meshOf(name, members));
  await eventually(() => {
    const { status } = cluster(hub).store.get(clusterMeshes, { namespace, name });
    expect(status?.conditions?.find(({ type }) => type === "Ready")?.status).toBe("True");
  });
  // What was written is looked at once more: from then on nothing runs that nobody has woken.
  await delay(3 * digestMs);
}

const routesIn = (number: number): string[] =>
  cluster(number)
    .store.list(peers)
    .flatMap(({ spec }) => spec.allowedIPs);

describe("a node that changes", () => {
  it("takes away at once what a Peer in its own cluster routes over it", async () => {
    await createMesh("m", [{ number: hub }, { number: shared, secret: "cluster-b-kubeconfig" }]);
    expect(routesIn(hub)).toContain("172.20.1.1/32");
    const addresses = [{ type: "InternalIP", address: "172.20.1.1" }];
    cluster(hub).store.patchStatus(nodes, { name: "cluster-a-1" }, { status: { addresses } });
    await eventually(() => expect(routesIn(hub)).not.toContain("172.20.1.1/32"), { withinMs: 5000 });
  });

  it("is heard in every mesh that leads to its cluster, also where only another connection tells of it", async () => {
    cluster(shared).addToken("other");
    const data = { kubeconfig: Buffer.from(cluster(shared).kubeconfig({ token: "other" })).toString("base64") };
    cluster(hub).store.create(secrets, { metadata: { namespace, name: "other" }, data });
    await createMesh("one", [{ number: hub }, { number: shared, secret: "cluster-b-kubeconfig" }]);
    await createMesh("two", [
      { number: shared, secret: "other" },
      { number: third, secret: "cluster-c-kubeconfig" },
    ]);
    cluster(shared).faults.add({
      match: { verb: "watch", resource: "nodes", userAgent: silentOne() },
      do: { kind: "drop-event" },
    });
    const annotations = { [nodeAnnotations.forceEndpoint]: "198.18.1.99:51820" };
    cluster(shared).store.patch(nodes, { name: "cluster-b-1" }, { metadata: { annotations } });
    for (const number of [hub, third])
      await eventually(() => expect(endpointsIn(number)).toContain("198.18.1.99"), { withinMs: 5000 });
  });
});

describe("what happens while the meshes are unknown", () => {
  it("is answered as soon as they are known again, in Peers and on nodes", { timeout: 90_000 }, async () => {
    const keepalive = { persistentKeepalive: 25 };
    await createMesh("m", [{ number: hub }, { number: shared, secret: "cluster-b-kubeconfig", ...keepalive }]);
    await eventually(() => expect(keepalivesIn(shared)).toEqual(["25"]));
    await delay(1500);
    const match = { resource: "clustermeshes" };
    const faults = (["list", "watch"] as const).map((verb) =>
      cluster(hub).faults.add({ match: { ...match, verb }, do: { kind: "status", code: 500 } }),
    );
    cluster(hub).faults.add({ match: { ...match, verb: "watch" }, times: 1, do: { kind: "cut-watch" } });
    const said = (message: string) =>
      lines.filter((line) => line.message === message && line.fields.resource === "clustermeshes").length;
    await eventually(() => expect(said("unknown")).toBe(1));
    const annotations = { [nodeAnnotations.forceEndpoint]: "198.18.1.99:51820", [nodeAnnotations.keepalive]: null };
    cluster(shared).store.patch(nodes, { name: "cluster-b-1" }, { metadata: { annotations } });
    await delay(2500);
    expect([endpointsIn(hub), said("known")]).toEqual([["198.18.1.1"], 1]);
    for (const calm of faults) calm();
    // The next try may be half a minute away.
    await eventually(() => expect(said("known")).toBe(2), { withinMs: 60_000 });
    await eventually(() => expect(endpointsIn(hub)).toContain("198.18.1.99"), { withinMs: 5000 });
    await eventually(() => expect(keepalivesIn(shared)).toEqual(["25"]), { withinMs: 5000 });
  });
});

describe("a mesh that was deleted by force", () => {
  it("leaves nothing that keeps the status of the next one of its name waiting", async () => {
    const members = [{ number: hub }, { number: shared, secret: "cluster-b-kubeconfig" }];
    const ref = { namespace, name: "m" };
    await createMesh("m", members);
    // Time enough between two statuses, so that the last one is written just before the end.
    await delay(8000);
    const annotations = { [nodeAnnotations.key]: null };
    cluster(shared).store.patch(nodes, { name: "cluster-b-1" }, { metadata: { annotations } });
    const skipped = () => cluster(hub).store.get(clusterMeshes, ref).status?.summary?.skipped;
    await eventually(() => expect(skipped()).toBe(1));
    cluster(hub).store.patch(clusterMeshes, ref, { metadata: { finalizers: null } });
    cluster(hub).store.delete(clusterMeshes, ref);
    cluster(hub).store.create(clusterMeshes, meshOf("m", members));
    await eventually(() => expect(skipped()).toBe(1), { withinMs: 5000 });
  });
});

/** The connection to the shared cluster that does not speak for it: it has written nothing of the second mesh. */
function silentOne(): string {
  const writes = cluster(shared).requests.all({ verb: "create", resource: "peers.kilo.squat.ai" });
  const last = writes.at(-1)?.userAgent ?? "";
  return last === "operator other" ? `operator ${cluster(shared).adminToken}` : "operator other";
}

const endpointsIn = (number: number): (string | undefined)[] =>
  cluster(number)
    .store.list(peers)
    .map(({ spec }) => spec.endpoint?.dnsOrIP.ip);

const keepalivesIn = (number: number): (string | undefined)[] =>
  cluster(number)
    .store.list(nodes)
    .map(({ metadata }) => metadata.annotations?.[nodeAnnotations.keepalive]);
