import { describe, expect, it } from "vitest";
import { aMesh, aNode, aView, aWorld, conn, connected, planOf } from "../../test/support/build.ts";
import { conditionOf, settledStatus } from "../../test/support/mesh-status.ts";
import { parseIp } from "./cidr.ts";
import { endpointAt } from "./endpoint.ts";
import { clusterName, connectionId } from "./ids.ts";
import type { Mesh, MeshEntry } from "./mesh.ts";
import { noteReasons } from "./reasons.ts";
import type { ConnectedMesh } from "./world.ts";

const one = aMesh(2);
const views = [aView([aNode(1, 0, { forceEndpoint: "", externalIps: ["198.51.100.7"] })]), aView([aNode(2, 0)])];

/** A second mesh over the same clusters that says something else of the first. */
function otherMesh(change: Partial<MeshEntry>): Mesh {
  const other = aMesh(2, {}, "other");
  const entries = other.entries.map((entry, index) => (index === 0 ? { ...entry, ...change } : entry));
  return { ...other, entries };
}

const conflicts = (meshes: readonly Mesh[]) =>
  planOf(aWorld({ meshes, views }), 2)
    .notes.filter(({ reason }) => reason === "EntryConflict")
    .map(({ owners: [owner], source, subject }) => `${owner} ${source} ${subject}`);

describe("two meshes that want one node", () => {
  it.each<[string, Partial<MeshEntry>]>([
    ["persistentKeepalive", { keepaliveSeconds: 25 }],
    ["endpointDiscovery", { endpointDiscovery: "Never" }],
    ["wireguardPort", { wireguardPort: 51821 }],
  ])("and differ in %s are both told so, each about its own entry", (field, change) => {
    const told = [`kilo-system/my-mesh c1 c1-n0: ${field}`, `kilo-system/other c1 c1-n0: ${field}`];
    expect(conflicts([one, otherMesh(change)])).toEqual(told);
    expect(conflicts([otherMesh(change), one]).sort()).toEqual(told);
  });

  it("and agree are told nothing", () => {
    expect(conflicts([one, otherMesh({})])).toEqual([]);
  });

  it("of which one calls the cluster by another name are told it under their own", () => {
    const { entries } = otherMesh({ keepaliveSeconds: 25 });
    const named = entries.map((entry) => ({ ...entry, name: clusterName(`z${entry.name.slice(1)}`) }));
    expect(conflicts([one, { ...otherMesh({}), entries: named }])[1]).toContain("z1 c1-n0");
  });

  it("have it in their status, once, however many clusters receive the node", () => {
    const three = [one, otherMesh({ keepaliveSeconds: 25 })].map((mesh) => ({ ...aMesh(3, {}, mesh.name), ...mesh }));
    const [row] = settledStatus({ meshes: three, views: [...views, aView([aNode(3, 0)])] }).clusters[0]?.notes ?? [];
    expect(row).toEqual({ reason: "EntryConflict", count: 1, examples: ["c1-n0: persistentKeepalive"] });
  });
});

describe("a cluster that is listed twice", () => {
  const third = connectionId("conn-3");

  /** The first mesh with its second entry spoken for by another connection. */
  const through = (speaker: ConnectedMesh["connections"]): ConnectedMesh => ({
    ...connected(one),
    connections: speaker,
    spokenFor: new Map([[clusterName("c2"), third]]),
  });

  it("by one mesh is told on the later entry", () => {
    const mesh = aMesh(3);
    const twice = new Map([...connected(mesh).connections, [clusterName("c3"), { state: "connected", id: conn(2) }]]);
    const status = settledStatus({
      meshes: [mesh],
      views: [...views],
      connected: [{ ...connected(mesh), connections: twice as ConnectedMesh["connections"] }],
    });
    expect(status.clusters.map(({ notes }) => notes?.[0]?.reason)).toEqual([
      undefined,
      undefined,
      "ClusterListedTwice",
    ]);
    expect(status.clusters[2]?.notes?.[0]?.examples).toEqual(["c2"]);
  });

  it("by two meshes is told to the one that goes through the other's connection", () => {
    const other = { ...connected(aMesh(2, {}, "other")) };
    const status = settledStatus({
      meshes: [one],
      views: [...views],
      connected: [through(connected(one).connections), other],
    });
    expect(status.clusters[1]?.notes).toMatchObject([{ reason: "ClusterListedTwice", examples: ["another mesh"] }]);
  });

  it("is no matter while no other mesh uses it: a new credential is being taken over", () => {
    const status = settledStatus({ meshes: [one], views, connected: [through(connected(one).connections)] });
    expect(status.clusters[1]?.notes).toBeUndefined();
  });
});

describe("an entry with both CIDR forms", () => {
  it("is told which fields do not count", () => {
    const entries = one.entries.map((entry, index) =>
      index === 0 ? { ...entry, ignoredFields: ["podCIDRs", "serviceCIDR"] } : entry,
    );
    const status = settledStatus({ meshes: [{ ...one, entries }], views });
    expect(status.clusters[0]?.notes).toEqual([{ reason: "BothForms", count: 1, examples: ["podCIDRs, serviceCIDR"] }]);
    expect(status.clusters[0]?.message).toContain("Remove the others");
  });
});

describe("a cluster in which watching is forbidden", () => {
  it("is told with each right that is missing, and the mesh is Ready", () => {
    const polled = ["nodes", "peers.kilo.squat.ai"];
    const status = settledStatus({ meshes: [one], views: [aView([aNode(1, 0)]), aView([aNode(2, 0)], { polled })] });
    const examples = ["watch nodes", "watch peers.kilo.squat.ai"];
    expect(status.clusters.map(({ notes }) => notes)).toEqual([
      undefined,
      [{ reason: "WatchForbidden", count: 2, examples }],
    ]);
    expect(status.clusters[1]?.message).toBe(noteReasons.WatchForbidden.hint);
    expect(conditionOf(status, "Ready").status).toBe("True");
    expect(conditionOf(status, "Degraded")).toMatchObject({ status: "True", reason: "WatchForbidden" });
  });
});

describe("a cluster whose nodes we may not annotate", () => {
  it("is told with the command that a person may run instead, as information", () => {
    const command = "kubectl annotate nodes --all kilo.squat.ai/persistent-keepalive=25";
    const nodeCommands = new Map([[conn(2), command]]);
    const status = settledStatus({ meshes: [one], views: [...views], nodeCommands });
    expect(status.clusters.map(({ notes }) => notes)).toEqual([
      undefined,
      [{ reason: "NodeKeepaliveMissing", count: 1, examples: [command] }],
    ]);
    expect(status.clusters[1]?.message).toBe(noteReasons.NodeKeepaliveMissing.hint);
    expect(conditionOf(status, "Degraded").status).toBe("False");
  });
});

describe("a node that is peered at a placeholder", () => {
  const roaming = aNode(2, 0, { forceEndpoint: "", kiloEndpoint: "192.168.3.4:51820" });
  const statusWith = (two: Parameters<typeof aView>[0], silent: readonly string[] = []) =>
    settledStatus({ meshes: [one], views: [aView([aNode(1, 0)]), aView(two, { silent: new Set(silent) as never })] });

  it("is told as information: the mesh is Ready, not Degraded, and counts it as peered", () => {
    const status = statusWith([roaming, aNode(2, 1)]);
    const note = { reason: "NodeNoEndpoint", count: 1, examples: ["c2-n0"] };
    expect(status.clusters[1]).toMatchObject({ registeredPeers: 2, skippedNodes: 0, notes: [note] });
    expect(status.clusters[1]?.message).toBe(noteReasons.NodeNoEndpoint.hint);
    expect(conditionOf(status, "Ready").status).toBe("True");
    expect(conditionOf(status, "Degraded").status).toBe("False");
  });

  it("is told until it says where it can be reached, wherever others have met it meanwhile", () => {
    expect(statusWith([aNode(2, 0)]).clusters[1]?.notes).toBeUndefined();
    const met = new Map([["c1-n0", new Map([[roaming.key, endpointAt(parseIp("203.0.113.9") as never, 51820)]])]]);
    const views = [aView([aNode(1, 0)], { observed: met as never }), aView([roaming])];
    expect(settledStatus({ meshes: [one], views }).clusters[1]).toEqual({
      ...statusWith([roaming]).clusters[1],
      links: { up: 1, expected: 1 },
    });
  });

  it("does not hide what to do about the others", () => {
    expect(statusWith([roaming, aNode(2, 1)], ["c2-n1"]).clusters[1]?.message).toBe(noteReasons.NodeSilent.hint);
  });
});
