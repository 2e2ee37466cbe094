import { describe, expect, it } from "vitest";
import { aMesh, conn, connected } from "../../test/support/build.ts";
import { parseExposition } from "../../test/support/exposition.ts";
import { clusterName, connectionId, localConnection, meshId } from "../core/ids.ts";
import { failed } from "../runtime/outcome.ts";
import type { Topology } from "./connect-clusters.ts";
import { clusterNames, counting, RecordedMetrics } from "./operator-metrics.ts";

const b = connectionId("b-id");
const write = { resource: "peers.kilo.squat.ai", verb: "create", outcome: "written" } as const;

const read = async (metrics: RecordedMetrics) => parseExposition(await metrics.series.text(() => undefined));

describe("what is counted", () => {
  it("carries the connection and what meshes call it", async () => {
    const metrics = new RecordedMetrics();
    metrics.named(new Map([[b, "cluster-b"]]));
    metrics.wrote(b, write);
    metrics.wrote(localConnection, write);
    metrics.reacted(b, 30);
    const exposition = await read(metrics);
    expect(exposition.value("kilo_clustermesh_writes_total", { connection: "b-id" })).toBe(1);
    expect(exposition.of("kilo_clustermesh_writes_total").map(({ labels }) => labels.cluster)).toEqual([
      "cluster-b",
      "local",
    ]);
    expect(exposition.value("kilo_clustermesh_reaction_seconds_sum", { cluster: "cluster-b" })).toBe(0.03);
  });

  it("ends with the cluster that left, and begins anew under a new name", async () => {
    const metrics = new RecordedMetrics();
    metrics.named(new Map([[b, "cluster-b"]]));
    metrics.wrote(b, write);
    metrics.wrote(localConnection, write);
    metrics.reacted(b, 30);
    metrics.reconciled("sync-target", "done");
    metrics.named(new Map([[b, "cluster-b,east"]]));
    expect((await read(metrics)).of("kilo_clustermesh_writes_total", { connection: "b-id" })).toEqual([]);
    metrics.wrote(b, write);
    expect((await read(metrics)).value("kilo_clustermesh_writes_total", { cluster: "cluster-b,east" })).toBe(1);
    metrics.named(new Map());
    const left = await read(metrics);
    expect(left.samples.filter(({ labels }) => labels.connection === "b-id")).toEqual([]);
    expect(left.value("kilo_clustermesh_writes_total", { connection: "local" })).toBe(1);
    expect(left.value("kilo_clustermesh_reconciles_total", { outcome: "done" })).toBe(1);
  });

  it("of controllers has a zero for bugs before the first one", async () => {
    const metrics = new RecordedMetrics();
    const { name, onOutcome, onBug } = counting("sync-target", metrics);
    onOutcome("a", failed(new Error("no")));
    expect((await read(metrics)).value("kilo_clustermesh_bugs_total", { controller: name })).toBe(0);
    onBug();
    expect((await read(metrics)).value("kilo_clustermesh_bugs_total", { controller: name })).toBe(1);
    expect((await read(metrics)).value("kilo_clustermesh_reconciles_total", { outcome: "failed" })).toBe(1);
  });

  it("of leftovers keeps the last hundred, however many meshes come and go", async () => {
    const metrics = new RecordedMetrics();
    for (let index = 0; index < 150; index++) metrics.leftovers(meshId("default", `m${index}`), ["b"]);
    const kept = (await read(metrics)).of("kilo_clustermesh_leftovers_total");
    expect(kept).toHaveLength(100);
    expect(kept.at(-1)?.labels.mesh).toBe("default/m149");
  });
});

describe("the name of a connection", () => {
  const topology = (parts: Partial<Topology>): Topology => ({
    meshes: [],
    refused: new Set(),
    draining: [],
    ledgers: new Map(),
    ...parts,
  });

  it("is what all meshes and ledgers call it, in order, and short", () => {
    const row = (name: string) => ({
      cluster: clusterName(name),
      reach: "local" as const,
      connection: { state: "connected", id: conn(2) } as const,
    });
    const rows = ["z", "y", "c2"].map(row);
    const names = clusterNames(
      topology({ meshes: [connected(aMesh(3))], ledgers: new Map([[meshId("a", "b"), rows]]) }),
    );
    expect([...names]).toEqual([
      [conn(1), "c1"],
      [conn(2), "c2,y,z"],
      [conn(3), "c3"],
    ]);
    const many = ["a", "b", "c", "d", "e"].map(row);
    expect(clusterNames(topology({ ledgers: new Map([[meshId("a", "b"), many]]) })).get(conn(2))).toBe("a,b,c,+2");
  });
});
