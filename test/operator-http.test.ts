import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { clusterMeshes } from "../src/api/cluster-mesh.ts";
import { nodes } from "../src/api/kilo-node.ts";
import { peers } from "../src/api/kilo-peer.ts";
import { secrets } from "../src/api/kubeconfig-secret.ts";
import { demoMeshRef } from "../src/cli/demo-mesh.ts";
import { events } from "../src/kube/resource.ts";
import { operatorMetrics } from "../src/operator/metrics.ts";
import type { Fields, Logger } from "../src/runtime/log.ts";
import { fleetNode } from "../src/sandbox/fleet.ts";
import type { SandboxCluster } from "../src/sandbox/sandbox.ts";
import { eventually } from "./support/eventually.ts";
import { type Exposition, parseExposition, type Sample } from "./support/exposition.ts";
import { fastClock } from "./support/fast-clock.ts";
import { OperatedFleet } from "./support/operated-fleet.ts";

const userAgent = "operator-with-http";
const loopback = { host: "127.0.0.1", port: 0 };
const planted = "plantedtokenthatnobodymaysee";
const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
/** A bearer token that says when it ends: in an hour. */
const jwt = `${part({ alg: "none" })}.${part({ exp: Math.round(Date.now() / 1000) + 3600 })}.${planted}`;

let fleet: OperatedFleet;
let lines: { readonly message: string; readonly fields: Fields }[];

const cluster = (number: number): SandboxCluster => fleet.cluster(number);

beforeEach(async () => {
  fleet = await OperatedFleet.open({ clusters: 3, nodes: 2, clock: fastClock(60) });
  cluster(1).addToken(jwt);
  putKubeconfig("cluster-b", cluster(1).kubeconfig({ token: jwt }));
  lines = [];
  const config = { health: loopback, metrics: { address: loopback, tls: false } } as const;
  await fleet.operate({ userAgent, log: noting({}), config });
  await fleet.join();
});
afterEach(() => fleet.stop());

/** Keeps everything that is said, on every level. */
function noting(own: Fields): Logger {
  const note = (message: string, fields?: Fields) => void lines.push({ message, fields: { ...own, ...fields } });
  return { debug: note, info: note, warn: note, error: note, with: (fields) => noting({ ...own, ...fields }) };
}

function putKubeconfig(name: string, text: string): void {
  const data = { kubeconfig: Buffer.from(text).toString("base64") };
  cluster(0).store.patch(secrets, { namespace: demoMeshRef.namespace, name: `${name}-kubeconfig` }, { data });
}

async function ask(what: "metrics" | "health", path: string): Promise<Response> {
  const line = lines.find(({ message, fields }) => message === "serving" && fields.what === what);
  return fetch(`http://${line?.fields.address}${path}`);
}

const scrape = async (): Promise<Exposition> => parseExposition(await (await ask("metrics", "/metrics")).text());

const requests = (filter: object = {}): number =>
  fleet.sandbox.clusters.reduce((sum, { requests: all }) => sum + all.count({ userAgent, ...filter }), 0);

const sumOf = (shown: Exposition, name: string, labels: Record<string, string>): number =>
  shown.of(name, labels).reduce((sum, { value }) => sum + value, 0);

describe("the metrics of a running operator", () => {
  it("are all there and true", async () => {
    const shown = await scrape();
    for (const [name, { type, help }] of Object.entries(operatorMetrics))
      expect([shown.types.get(name), shown.helps.get(name)]).toEqual([type, help]);
    for (const { name, store } of fleet.sandbox.clusters) {
      expect(shown.value("kilo_clustermesh_peers", { cluster: name })).toBe(store.list(peers).length);
      expect(shown.value("kilo_clustermesh_nodes", { cluster: name })).toBe(store.list(nodes).length);
      expect(shown.value("kilo_clustermesh_cluster_known", { cluster: name, reason: "" })).toBe(1);
      expect(shown.value("kilo_clustermesh_lists_total", { cluster: name, resource: "nodes" })).toBe(1);
    }
    expect(shown.value("kilo_clustermesh_lists_total", { cluster: "cluster-a", resource: "secrets" })).toBe(2);
    expect(shown.value("kilo_clustermesh_leader")).toBe(1);
    expect(shown.value("kilo_clustermesh_mesh_ready", { mesh: "kilo-system/my-mesh" })).toBe(1);
    expect(sumOf(shown, "kilo_clustermesh_entry_known", { mesh: "kilo-system/my-mesh" })).toBe(3);
    expect(shown.value("kilo_clustermesh_bugs_total", { controller: "sync-target" })).toBe(0);
    const expiry = shown.value("kilo_clustermesh_credential_expiry_seconds", { cluster: "cluster-b", kind: "token" });
    expect(Math.abs(expiry - 3600)).toBeLessThan(120);
  });

  it("count every write that the clusters have seen", async () => {
    const counted = { resource: "peers.kilo.squat.ai", verb: "create", outcome: "written" };
    const created = { resource: "peers.kilo.squat.ai", verb: "create", code: 201 };
    const statuses = { resource: "clustermeshes.kilo.squat.ai", subresource: "status", verb: "patch" };
    fleet.sandbox.clusters[1]?.store.create(nodes, fleetNode(1, 7, "cluster-b-8"));
    await eventually(() => expect(cluster(0).store.list(peers)).toHaveLength(5));
    await eventually(() => expect(cluster(2).store.list(peers)).toHaveLength(5));
    await eventually(async () => {
      const shown = await scrape();
      expect(sumOf(shown, "kilo_clustermesh_writes_total", counted)).toBe(requests(created));
      const status = { resource: "clustermeshes.kilo.squat.ai/status" };
      expect(sumOf(shown, "kilo_clustermesh_writes_total", status)).toBe(requests(statuses));
    });
    expect(requests(created)).toBe(14);
  });

  it("measure each node change once in each of the other clusters", async () => {
    const count = async (): Promise<number> => sumOf(await scrape(), "kilo_clustermesh_reaction_seconds_count", {});
    const before = await count();
    cluster(1).store.create(nodes, fleetNode(1, 7, "cluster-b-8"));
    await eventually(async () => expect(await count()).toBe(before + 2));
  });

  it("cost no request, however often they are read", async () => {
    await eventually(async () => {
      const before = requests();
      for (let index = 0; index < 20; index++) await scrape();
      expect(requests()).toBe(before);
    });
  });

  it("say which cluster is unknown and what is kept because of it", async () => {
    await cluster(2).stopListening();
    await eventually(async () => {
      const shown = await scrape();
      expect(shown.value("kilo_clustermesh_cluster_known", { cluster: "cluster-c", reason: "Unreachable" })).toBe(0);
      expect(shown.of("kilo_clustermesh_nodes", { cluster: "cluster-c" })).toEqual([]);
      expect(shown.value("kilo_clustermesh_peers_kept", { cluster: "cluster-a", reason: "SourceUnknown" })).toBe(2);
    });
    await cluster(2).startListening();
  });

  it("end with the cluster that leaves the mesh", async () => {
    const shown = (await scrape()).samples.filter(({ labels }) => labels.cluster === "cluster-c");
    expect(shown.length).toBeGreaterThan(10);
    const { spec } = cluster(0).store.get(clusterMeshes, demoMeshRef) as { spec: { clusters: unknown[] } };
    cluster(0).store.patch(clusterMeshes, demoMeshRef, { spec: { clusters: spec.clusters.slice(0, 2) } });
    await eventually(async () => {
      const left = (await scrape()).samples.filter(({ labels }) => labels.cluster === "cluster-c");
      expect(left).toEqual([]);
    });
  });

  it("end with the connection, whatever it had still to do when nobody asked for it any more", async () => {
    cluster(0).store.delete(clusterMeshes, demoMeshRef);
    const closed = () => lines.filter(({ message }) => message === "cluster disconnected");
    await eventually(() => expect(closed()).toHaveLength(2));
    const remote = ({ labels }: Sample): boolean => labels.connection !== undefined && labels.connection !== "local";
    await eventually(async () => expect((await scrape()).samples.filter(remote)).toEqual([]), { withinMs: 5000 });
  });
});

describe("a running operator", () => {
  it("is ready while it knows its own cluster, and says so when it does not any more", async () => {
    expect(await (await ask("health", "/readyz")).text()).toBe("ready: leading, the meshes are known\n");
    await cluster(0).stopListening();
    await eventually(async () => {
      const answer = await ask("health", "/readyz");
      expect(await answer.text()).toMatch(/^not ready: leading, the local API is unknown for \d+ s/);
      expect(answer.status).toBe(503);
    });
    expect((await ask("health", "/healthz")).status).toBe(200);
    await cluster(0).startListening();
    await eventually(async () => expect((await ask("health", "/readyz")).status).toBe(200));
  });

  it("lets no credential out: not by metrics, log, status, Event or Peer", async () => {
    const broken = JSON.parse(cluster(2).kubeconfig()) as { users: [{ user: object }] };
    broken.users[0].user = { token: planted, password: planted, exec: { command: planted } };
    putKubeconfig("cluster-c", JSON.stringify(broken));
    await eventually(async () => {
      const shown = await scrape();
      expect(shown.value("kilo_clustermesh_entry_known", { cluster: "cluster-c", reason: "KubeconfigInvalid" })).toBe(
        0,
      );
    });
    cluster(1).revokeToken(jwt);
    cluster(1).cutWatches();
    await eventually(async () => {
      const shown = await scrape();
      expect(shown.value("kilo_clustermesh_cluster_known", { cluster: "cluster-b", reason: "Unauthorized" })).toBe(0);
    });
    const mesh = () => cluster(0).store.get(clusterMeshes, demoMeshRef);
    await eventually(() => expect(JSON.stringify(mesh().status)).toContain("Unauthorized"));
    await eventually(() => expect(cluster(0).store.list(events).length).toBeGreaterThan(1));
    const told = {
      metrics: await (await ask("metrics", "/metrics")).text(),
      ready: await (await ask("health", "/readyz")).text(),
      log: JSON.stringify(lines),
      meshes: JSON.stringify(mesh()),
      events: JSON.stringify(cluster(0).store.list(events)),
      peers: JSON.stringify(fleet.sandbox.clusters.map(({ store }) => store.list(peers))),
    };
    const credentials = [planted, jwt, ...fleet.sandbox.clusters.map(({ adminToken }) => adminToken)];
    const leaks = Object.entries(told).filter(([, text]) =>
      credentials.some((credential) => text.includes(credential)),
    );
    expect(leaks.map(([where]) => where)).toEqual([]);
  });
});
