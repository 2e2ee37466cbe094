import { describe, expect, it } from "vitest";
import { aMesh, aNode, aView, conn, connected, unknown } from "../../test/support/build.ts";
import { conditionOf, type SettledParts, settledStatus } from "../../test/support/mesh-status.ts";
import { type ClusterName, clusterName, meshId, type PeerName } from "./ids.ts";
import { conditionReasons, noteReasons, skipReasons } from "./reasons.ts";
import type { ClusterView, EntryConnection } from "./world.ts";

const mesh = aMesh(2);
const dayMs = 86_400_000;
const nowMs = Date.parse("2026-01-01T00:00:00Z");

function settled(change: { one?: Partial<ClusterView>; two?: Partial<ClusterView> } & Partial<SettledParts> = {}) {
  const { one, two, ...parts } = change;
  const views = [aView([aNode(1, 0), aNode(1, 1)], one), aView([aNode(2, 0), aNode(2, 1)], two)];
  return settledStatus({ meshes: [mesh], views, nowMs, ...parts });
}

const degraded = (change: Parameters<typeof settled>[0]) => conditionOf(settled(change), "Degraded");
const ready = (change: Parameters<typeof settled>[0]) => conditionOf(settled(change), "Ready");
const nodes = (...list: ReturnType<typeof aNode>[]) => ({ nodes: { state: "known", items: list } }) as const;

describe("a mesh in which all is as declared", () => {
  it("is Ready and not Degraded", () => {
    expect(degraded({})).toMatchObject({ status: "False", reason: "AsDeclared" });
    expect(ready({}).status).toBe("True");
  });

  it("is not Degraded for what passes by itself", () => {
    const waits = nodes(aNode(2, 0), aNode(2, 1, { key: "" }));
    expect(degraded({ two: waits }).status).toBe("False");
    expect(degraded({ two: { nodes: unknown } }).status).toBe("False");
  });

  it("is not Degraded for links without a handshake: nobody may have sent", () => {
    expect(settled({}).clusters[0]?.links).toEqual({ up: 0, expected: 2 });
    expect(degraded({}).status).toBe("False");
  });
});

describe("a known cluster of which every node is skipped", () => {
  const bare = nodes(aNode(2, 0, { key: "" }), aNode(2, 1, { key: "" }));

  it("keeps its mesh from being Ready, and makes it Degraded, whatever the reason", () => {
    const message = `c2: all 2 nodes. ${conditionReasons.NodesSkipped.hint}`;
    expect(ready({ two: bare })).toMatchObject({ status: "False", reason: "NodesSkipped", message });
    expect(degraded({ two: bare })).toMatchObject({ status: "True", reason: "NodesSkipped" });
  });

  it("says what to do next", () => {
    expect(settled({ two: bare }).clusters[1]?.message).toBe(skipReasons.NodeNoPublicKey.hint);
  });

  it("is no obstacle when another entry of the mesh leads there and serves it", () => {
    const three = aMesh(3);
    const to = { state: "connected", id: conn(2) } as const;
    const connections = new Map([...connected(three).connections, [clusterName("c3"), to]]);
    const status = settledStatus({
      meshes: [three],
      views: [aView([aNode(1, 0)]), aView([aNode(2, 0)])],
      connected: [{ ...connected(three), connections }],
    });
    expect(status.clusters[2]).toMatchObject({ nodes: 1, skippedNodes: 1 });
    expect(conditionOf(status, "Ready").status).toBe("True");
    expect(conditionOf(status, "Degraded")).toMatchObject({ status: "True" });
  });

  it("is none at all when it has no nodes", () => {
    expect(ready({ two: nodes() }).status).toBe("True");
  });
});

describe("a node that somebody has to correct", () => {
  it("makes the mesh Degraded, though Ready", () => {
    const two = nodes(aNode(2, 0), aNode(2, 1, { key: "short" }));
    expect(ready({ two }).status).toBe("True");
    expect(degraded({ two }).message).toBe(
      `NodesSkipped: c2, c2-n1 (NodeKeyInvalid). ${conditionReasons.NodesSkipped.hint}`,
    );
  });
});

describe("a credential", () => {
  const ending = (ms: number) => ({ two: { credentialEndsAtMs: nowMs + ms } });

  it.each([
    { what: "that ends in more than seven days needs nobody", ms: 7 * dayMs + 1, reason: "AsDeclared", next: 1 },
    { what: "that ends in seven days needs somebody", ms: 7 * dayMs, reason: "CredentialEnding", next: 7 * dayMs },
    { what: "that ends in a moment needs somebody", ms: 1, reason: "CredentialEnding", next: 1 },
    { what: "that has ended needs somebody", ms: 0, reason: "CredentialEnded", next: undefined },
    { what: "that ended long ago needs somebody", ms: -dayMs, reason: "CredentialEnded", next: undefined },
  ])("$what, and the status knows when that changes", ({ ms, reason, next }) => {
    expect(degraded(ending(ms)).reason).toBe(reason);
    expect(settled(ending(ms)).changesInMs).toBe(next);
  });

  it("that was given for an hour needs somebody in its last quarter, not always", () => {
    const hourMs = 3_600_000;
    const short = (ms: number) => ({ two: { credentialEndsAtMs: nowMs + ms, credentialLifetimeMs: hourMs } });
    expect(degraded(short(hourMs)).reason).toBe("AsDeclared");
    expect(settled(short(hourMs)).changesInMs).toBe(hourMs * 0.75);
    expect(degraded(short(hourMs / 4)).reason).toBe("CredentialEnding");
  });

  it("with which the operator itself runs is in no Secret of the mesh, and not told", () => {
    expect(settled({ one: { credentialEndsAtMs: nowMs } }).clusters[0]?.credentialExpiresAt).toBeUndefined();
  });

  it("is shown by its end, and nothing that is said moves while time passes", () => {
    const first = settled(ending(3 * dayMs));
    expect(first.clusters[1]?.credentialExpiresAt).toBe("2026-01-04T00:00:00Z");
    const later = settled({ two: { credentialEndsAtMs: nowMs + 3 * dayMs }, nowMs: nowMs + dayMs });
    expect({ ...later, changesInMs: 0 }).toEqual({ ...first, changesInMs: 0 });
    expect(conditionOf(first, "Degraded").message).toContain("c2 at 2026-01-04T00:00:00Z");
  });

  it("whose end nobody can write down does not end", () => {
    expect(settled(ending(8.64e15 - nowMs)).clusters[1]?.credentialExpiresAt).toBeUndefined();
    expect(settled(ending(-8.64e15)).clusters[1]?.credentialExpiresAt).toBe("1970-01-01T00:00:00Z");
  });

  it("is that of the entry's own Secret, also where another connection speaks for the cluster", () => {
    const own = { ...connected(mesh), spokenFor: new Map([[clusterName("c2"), conn(3)]]) };
    const views = [
      aView([aNode(1, 0)]),
      aView([aNode(2, 0)], { credentialEndsAtMs: 1 }),
      aView([], { credentialEndsAtMs: nowMs + dayMs }),
    ];
    const status = settledStatus({ meshes: [mesh], views, connected: [own], nowMs });
    expect(status.clusters[1]?.credentialExpiresAt).toBe("2026-01-02T00:00:00Z");
  });
});

describe("what else needs a person", () => {
  const refusal = {
    peer: "x" as PeerName,
    owners: [mesh.id],
    text: "update x: Contested, somebody else keeps undoing it",
  };

  it("is a Peer that somebody keeps undoing", () => {
    const refusals = [{ ...refusal, reason: "Contested" as const }];
    expect(degraded({ refusals })).toMatchObject({ status: "True", reason: "Contested" });
    expect(ready({ refusals }).reason).toBe("Contested");
  });

  it("is no write that is tried again, and no Peer of another mesh", () => {
    expect(degraded({ refusals: [refusal] }).status).toBe("False");
    expect(degraded({ refusals: [{ ...refusal, reason: "Contested", owners: [meshId("a", "b")] }] }).status).toBe(
      "False",
    );
  });

  it("is a cluster whose Secret is missing", () => {
    const missing: EntryConnection = { state: "unknown", reason: "SecretMissing" };
    const connections = new Map<ClusterName, EntryConnection>([
      ...connected(mesh).connections,
      [clusterName("c2"), missing],
    ]);
    expect(degraded({ connected: [{ ...connected(mesh), connections }] })).toMatchObject({
      reason: "ClustersUnknown",
      message: expect.stringContaining("Create the Secret"),
    });
  });

  it("is a cluster that left the mesh and could not be emptied", () => {
    const left = { cluster: clusterName("old"), reach: { name: "old", key: "kubeconfig" } };
    const lost = { ...left, connection: { state: "unknown", reason: "SecretMissing" } } as const;
    expect(degraded({ ledger: [lost] })).toMatchObject({ reason: "PeersLeft" });
    const empty = { ...left, connection: { state: "connected", id: conn(3) } } as const;
    const views = [aView([aNode(1, 0)]), aView([aNode(2, 0)]), aView([])];
    expect(degraded({ ledger: [empty], views }).status).toBe("False");
  });

  it("is a cluster that left the mesh and refuses to be emptied", () => {
    const row = { cluster: clusterName("old"), reach: { name: "old", key: "kubeconfig" } };
    const ledger = [{ ...row, connection: { state: "connected", id: conn(2) } } as const];
    const text = "delete my-mesh--c1--c1-n0: forbidden";
    const refusals = [{ peer: "my-mesh--c1--c1-n0" as PeerName, owners: [mesh.id], text, isDenied: true }] as const;
    expect(degraded({ ledger, refusals }).message).toContain(`PeersLeft: old, ${text}`);
    expect(degraded({ ledger }).status).toBe("False");
  });
});

describe("the message of Degraded", () => {
  it("names the most telling first, and how many more there are", () => {
    const entries = mesh.entries.map((entry) => ({ ...entry, ignoredFields: ["podCIDRs"] }));
    const many = Array.from({ length: 9 }, (_, index) => aNode(2, index, { key: index > 0 ? "" : "x" }));
    const status = settled({
      meshes: [{ ...mesh, entries }],
      two: { ...nodes(aNode(2, 10), ...many), credentialEndsAtMs: nowMs - 1 },
    });
    const { reason, message } = conditionOf(status, "Degraded");
    expect(reason).toBe("CredentialEnded");
    expect(message.split("; ").map((text) => text.split(":")[0])).toEqual([
      "CredentialEnded",
      "NodesSkipped",
      "BothForms",
      "BothForms",
    ]);
    expect(message).toContain(conditionReasons.CredentialEnded.hint);
    expect(message).not.toContain(noteReasons.BothForms.hint);
  });
});
