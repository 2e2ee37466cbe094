import { describe, expect, it } from "vitest";
import {
  aKey,
  aMesh,
  aMeshObject,
  aNode,
  aView,
  aWorld,
  conn,
  connected,
  heldAs,
  planOf,
} from "../../test/support/build.ts";
import { parseExposition } from "../../test/support/exposition.ts";
import { readMesh } from "../api/cluster-mesh.ts";
import type { Plan } from "../core/plan.ts";
import type { TargetReport } from "../core/status.ts";
import type { ConnectionSummary } from "../registry/summary.ts";
import { fillMetrics } from "./fill-metrics.ts";
import { clusterNames, RecordedMetrics } from "./operator-metrics.ts";
import type { OperatorState } from "./operator-state.ts";

const now = new Date("2026-01-01T00:00:00Z");

function aSummary(cluster: number, overrides: Partial<ConnectionSummary> = {}): ConnectionSummary {
  return {
    id: conn(cluster),
    unknown: undefined,
    nodes: 2,
    peers: new Map(),
    credential: undefined,
    informers: [{ resource: "nodes", lists: 1, streamsEnded: 0, readFailures: new Map() }],
    ...overrides,
  };
}

function aState(overrides: Partial<OperatorState> = {}): OperatorState {
  return {
    instance: "me",
    knowledge: () => ({ state: "known", since: 0 }),
    wasListed: () => true,
    meshes: () => [],
    topology: () => undefined,
    connections: () => [],
    reports: new Map(),
    informers: () => [],
    queues: {},
    eventsDropped: () => 0,
    ...overrides,
  };
}

async function scrape(state: OperatorState) {
  const metrics = new RecordedMetrics();
  const topology = state.topology();
  if (topology) metrics.named(clusterNames(topology));
  return parseExposition(await metrics.series.text(() => fillMetrics(metrics, state, now)));
}

const reportOf = (plan: Plan): TargetReport => ({ spec: {}, plan, refusals: [], pending: 0 });

describe("a cluster", () => {
  it("that is known shows its nodes and this operator's Peers", async () => {
    const peers = new Map([
      ["me", 3],
      ["another", 5],
    ]);
    const shown = await scrape(aState({ connections: () => [aSummary(2, { peers })] }));
    expect(shown.value("kilo_clustermesh_cluster_known", { connection: conn(2), reason: "" })).toBe(1);
    expect(shown.value("kilo_clustermesh_nodes")).toBe(2);
    expect(shown.value("kilo_clustermesh_peers")).toBe(3);
    expect(shown.value("kilo_clustermesh_lists_total", { resource: "nodes" })).toBe(1);
  });

  it("that is unknown says why, and no number that might be taken for the truth", async () => {
    const lost = aSummary(2, { unknown: "Unreachable", nodes: undefined, peers: undefined });
    const shown = await scrape(aState({ connections: () => [lost] }));
    expect(shown.value("kilo_clustermesh_cluster_known", { reason: "Unreachable" })).toBe(0);
    expect([shown.of("kilo_clustermesh_nodes"), shown.of("kilo_clustermesh_peers")]).toEqual([[], []]);
  });

  it("shows when its credential ends, also when it has ended", async () => {
    const credential = { kind: "token", atMs: now.getTime() - 60_000 } as const;
    const shown = await scrape(aState({ connections: () => [aSummary(1), aSummary(2, { credential })] }));
    expect(shown.value("kilo_clustermesh_credential_expiry_seconds", { kind: "token" })).toBe(-60);
  });
});

describe("an informer", () => {
  const done = { lists: 4, streamsEnded: 7 };

  it("shows its lists, the watches that ended, and what failed by kind", async () => {
    const readFailures = new Map([
      ["list forbidden", 2],
      ["watch unreachable", 3],
    ]);
    const informers = [{ resource: "nodes", ...done, readFailures }];
    const shown = await scrape(aState({ connections: () => [aSummary(2, { informers })] }));
    const labels = { connection: conn(2), cluster: "", resource: "nodes" };
    expect(shown.value("kilo_clustermesh_lists_total", labels)).toBe(4);
    expect(shown.value("kilo_clustermesh_watch_streams_ended_total", labels)).toBe(7);
    expect(shown.of("kilo_clustermesh_reads_failed_total").map(({ labels: of, value }) => [of, value])).toEqual([
      [{ ...labels, verb: "list", kind: "forbidden" }, 2],
      [{ ...labels, verb: "watch", kind: "unreachable" }, 3],
    ]);
  });

  it("of the operator's own cluster shows the same", async () => {
    const informers = [{ resource: "secrets", ...done, readFailures: new Map([["watch gone", 1]]) }];
    const shown = await scrape(aState({ informers: () => informers }));
    const labels = { connection: "local", cluster: "local", resource: "secrets" };
    expect(shown.value("kilo_clustermesh_watch_streams_ended_total", labels)).toBe(7);
    expect(shown.value("kilo_clustermesh_reads_failed_total", { ...labels, verb: "watch", kind: "gone" })).toBe(1);
  });
});

describe("an entry of a mesh", () => {
  it("shows where it leads and what is wrong with it", async () => {
    const { mesh } = connected(aMesh(3));
    const connections = new Map([...connected(mesh).connections]);
    connections.set(mesh.entries[2]?.name ?? ("" as never), { state: "unknown", reason: "SecretMissing" });
    const meshes = [{ ...connected(mesh), connections }];
    const topology = () => ({ meshes, refused: new Set<never>(), draining: [], ledgers: new Map() });
    const lost = aSummary(2, { unknown: "Forbidden" });
    const shown = await scrape(aState({ topology, connections: () => [aSummary(1), lost] }));
    const entries = shown
      .of("kilo_clustermesh_entry_known")
      .map(({ labels, value }) => [labels.cluster, labels.reason, value]);
    expect(entries).toEqual([
      ["c1", "", 1],
      ["c2", "Forbidden", 0],
      ["c3", "SecretMissing", 0],
    ]);
    expect(shown.value("kilo_clustermesh_cluster_known", { cluster: "c2" })).toBe(0);
  });
});

describe("a mesh", () => {
  it("shows its Ready condition, and its lack of one", async () => {
    const condition = {
      type: "Ready",
      status: "True",
      reason: "Synced",
      message: "",
      lastTransitionTime: "",
      observedGeneration: 1,
    };
    const ready = readMesh({ ...aMeshObject(2), status: { conditions: [condition] } } as never);
    const fresh = readMesh(aMeshObject(2, {}, "other"));
    const shown = await scrape(aState({ meshes: () => [ready, fresh] }));
    expect(shown.value("kilo_clustermesh_mesh_ready", { mesh: "kilo-system/my-mesh", reason: "Synced" })).toBe(1);
    expect(shown.value("kilo_clustermesh_mesh_ready", { mesh: "kilo-system/other", reason: "" })).toBe(0);
  });
});

describe("a plan", () => {
  const mesh = aMesh(3);
  const broken = aNode(1, 1, { key: "" });
  const views = [aView([aNode(1, 0), broken]), aView([aNode(2, 0)]), aView([aNode(3, 0)])];

  it("shows skipped nodes once, whatever the number of targets", async () => {
    const world = aWorld({ meshes: [mesh], views });
    const reports = new Map([2, 3].map((cluster) => [conn(cluster), reportOf(planOf(world, cluster))]));
    const shown = await scrape(aState({ reports }));
    expect(shown.of("kilo_clustermesh_nodes_skipped")).toEqual([
      {
        name: "kilo_clustermesh_nodes_skipped",
        labels: { mesh: mesh.id, cluster: "c1", reason: "NodeNoPublicKey" },
        value: 1,
      },
    ]);
  });

  it("shows what is kept and why, withdrawals that wait for proof apart", async () => {
    const before = aWorld({ meshes: [mesh], views });
    const peers = { state: "known", items: planOf(before, 2).peers.map((peer) => heldAs(peer)) } as const;
    const empty = aView([], { absenceProven: false });
    const world = aWorld({ meshes: [mesh], views: [empty, aView([aNode(2, 0)], { peers }), empty] });
    const shown = await scrape(aState({ reports: new Map([[conn(2), reportOf(planOf(world, 2))]]) }));
    expect(shown.value("kilo_clustermesh_peers_kept", { reason: "WithdrawalHeld" })).toBe(peers.items.length);
    expect(shown.value("kilo_clustermesh_withdrawals_held")).toBe(peers.items.length);
    expect(shown.value("kilo_clustermesh_peers_taken")).toBe(0);
  });

  it("shows the routes that somebody else has, and the changes that wait", async () => {
    const [planned] = planOf(aWorld({ meshes: [mesh], views }), 2).peers;
    if (!planned) throw new Error("no Peer is planned");
    const another = { ...planned, name: "theirs" as never, publicKey: aKey("theirs") as never };
    const theirs = heldAs(another, { instance: "another", owners: [] });
    const peers = { state: "known", items: [theirs] } as const;
    const world = aWorld({ meshes: [mesh], views: [aView([aNode(1, 0)]), aView([aNode(2, 0)], { peers }), aView([])] });
    const report = { ...reportOf(planOf(world, 2)), pending: 3 };
    const shown = await scrape(aState({ reports: new Map([[conn(2), report]]) }));
    expect(shown.value("kilo_clustermesh_routes_refused", { connection: conn(2) })).toBe(2);
    expect(shown.value("kilo_clustermesh_changes_pending", { connection: conn(2) })).toBe(3);
  });

  it("that is unknown shows nothing", async () => {
    const plan = { state: "unknown", target: conn(2), reason: "Unreachable" } as const;
    const shown = await scrape(aState({ reports: new Map([[conn(2), reportOf(plan)]]) }));
    expect(shown.of("kilo_clustermesh_peers_taken")).toEqual([]);
  });
});

describe("events that were not written", () => {
  it("are counted", async () => {
    const shown = await scrape(aState({ eventsDropped: () => 5 }));
    expect(shown.value("kilo_clustermesh_events_dropped_total")).toBe(5);
  });
});

describe("the queues", () => {
  it("show how full they are", async () => {
    const queues = { "sync-target": { waiting: 3, running: 2, retrying: 1 } };
    const shown = await scrape(aState({ queues }));
    const counts = ["waiting", "running", "retrying"].map((what) => shown.value(`kilo_clustermesh_queue_${what}`));
    expect(counts).toEqual([3, 2, 1]);
  });
});
