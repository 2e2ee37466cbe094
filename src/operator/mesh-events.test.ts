import { describe, expect, it } from "vitest";
import type { ClusterMeshStatus } from "../api/schema.ts";
import { eventsBetween } from "./mesh-events.ts";

type Cluster = NonNullable<ClusterMeshStatus["clusters"]>[number];
type Condition = NonNullable<ClusterMeshStatus["conditions"]>[number];

const aCluster = (name: string, change: Partial<Cluster> = {}): Cluster => ({
  name,
  state: "Known",
  registeredPeers: 2,
  skippedNodes: 0,
  ...change,
});
const lost = (name: string, reason: string): Cluster =>
  aCluster(name, { state: "Unknown", reason, message: "do this" });
const noted = (name: string, reason: string, count = 1): Cluster =>
  aCluster(name, { notes: [{ reason, count, examples: ["n1"] }] });
const aCondition = (type: string, status: Condition["status"], reason: string): Condition => ({
  type,
  status,
  reason,
  message: `${reason} it is`,
  lastTransitionTime: "2026-01-01T00:00:00Z",
});
const status = (clusters: Cluster[], ...conditions: Condition[]): ClusterMeshStatus => ({ clusters, conditions });
const ready = aCondition("Ready", "True", "Synced");
const fine = status([aCluster("a"), aCluster("b")], ready, aCondition("Degraded", "False", "AsDeclared"));

const told = (before: ClusterMeshStatus, after: ClusterMeshStatus): string[] =>
  eventsBetween(before, after).map(({ type, reason, note }) => `${type} ${reason} ${note}`);

describe("between two statuses", () => {
  it("that are the same nothing happened: a restart tells nothing twice", () => {
    const worst = status(
      [lost("a", "Forbidden"), noted("b", "EntryConflict")],
      aCondition("Degraded", "True", "PeersLeft"),
    );
    expect(eventsBetween(worst, structuredClone(worst))).toEqual([]);
    expect(eventsBetween(fine, structuredClone(fine))).toEqual([]);
  });

  it("a cluster was lost, with its reason and what to do", () => {
    expect(told(fine, { ...fine, clusters: [aCluster("a"), lost("b", "Unreachable")] })).toEqual([
      "Warning Unreachable b: do this",
    ]);
  });

  it("a cluster is unknown for another reason than before", () => {
    const before = status([lost("b", "Unreachable")]);
    expect(told(before, status([lost("b", "Unauthorized")]))).toEqual(["Warning Unauthorized b: do this"]);
  });

  it("a cluster was found again", () => {
    expect(told(status([lost("b", "Unreachable")]), status([aCluster("b")]))).toEqual([
      "Normal ClusterKnown b is known again",
    ]);
  });

  it("a cluster that is being connected is no news", () => {
    expect(told(status([]), status([lost("b", "Connecting")]))).toEqual([]);
    expect(told(status([lost("b", "Connecting")]), status([aCluster("b")]))).toEqual([]);
  });

  it("a new cluster is news only when something is wrong with it", () => {
    expect(told(status([]), status([aCluster("a"), lost("b", "SecretMissing")]))).toEqual([
      "Warning SecretMissing b: do this",
    ]);
  });

  it("a note appeared; that it has grown or gone is no news", () => {
    expect(told(fine, { ...fine, clusters: [noted("a", "EntryConflict")] })).toEqual([
      "Warning EntryConflict a: n1. Two meshes ask for this node with different settings; the first by namespace/name has its way.",
    ]);
    expect(told({ clusters: [noted("a", "EntryConflict")] }, { clusters: [noted("a", "EntryConflict", 7)] })).toEqual(
      [],
    );
    expect(told({ clusters: [noted("a", "EntryConflict")] }, { clusters: [aCluster("a")] })).toEqual([]);
  });

  it("a note on what passes by itself is no warning", () => {
    expect(eventsBetween({}, { clusters: [noted("a", "ClusterReplaced", 3)] })).toMatchObject([
      { type: "Normal", note: expect.stringContaining("n1; and 2 more") },
    ]);
  });

  it("Ready turned for a moment, while clusters are connected or Peers written: that is no warning", () => {
    const unready = (reason: string): Condition => aCondition("Ready", "False", reason);
    expect(eventsBetween(fine, status([], unready("Syncing")))).toMatchObject([{ type: "Normal" }]);
    const connecting = status([lost("a", "Connecting"), aCluster("b")], unready("ClustersUnknown"));
    expect(eventsBetween({}, connecting)).toMatchObject([{ type: "Normal" }]);
    const worse = status([lost("a", "Connecting"), lost("b", "Forbidden")], unready("ClustersUnknown"));
    expect(eventsBetween({}, worse)).toMatchObject([{ type: "Warning" }, { reason: "Forbidden" }]);
  });

  it("Ready turned, and is told first", () => {
    const after = status([lost("a", "Forbidden")], aCondition("Ready", "False", "ClustersUnknown"));
    expect(told(fine, after)).toEqual([
      "Warning ClustersUnknown ClustersUnknown it is",
      "Warning Forbidden a: do this",
    ]);
    expect(eventsBetween(after, fine)[0]).toMatchObject({ type: "Normal", reason: "Synced", isReady: true });
  });

  it.each([
    ["a credential comes to its end", "CredentialEnding", ["Warning CredentialEnding CredentialEnding it is"]],
    ["Ready says the same", "NodesSkipped", []],
    ["a note says the same", "EntryConflict", []],
    ["a cluster says the same", "ClustersUnknown", []],
  ])("Degraded is told when %s", (_, reason, expected) => {
    const before = status([], aCondition("Ready", "False", "NodesSkipped"));
    expect(told(before, status([], ...(before.conditions ?? []), aCondition("Degraded", "True", reason)))).toEqual(
      expected,
    );
  });
});
