import { describe, expect, it } from "vitest";
import {
  aMesh,
  aNode,
  aView,
  aWorld,
  conn,
  connected,
  heldAs,
  known,
  planOf,
  unknown,
} from "../../test/support/build.ts";
import { mergeConditions } from "./conditions.ts";
import { meshId, type PeerName } from "./ids.ts";
import { planTarget } from "./plan.ts";
import { unknownReasons } from "./reasons.ts";
import { hasNewSource, meshStatus, refusedStatus, type TargetReport } from "./status.ts";
import type { ClusterView, World } from "./world.ts";

const mesh = aMesh(2);

/** Both targets hold what the plan says, and the last run of each is reported. */
function synced(
  change: {
    one?: Partial<ClusterView>;
    two?: Partial<ClusterView>;
    failures?: string[];
    refusals?: TargetReport["refusals"];
    pending?: number;
  } = {},
) {
  const nodes = [[aNode(1, 0), aNode(1, 1)], [aNode(2, 0)]] as const;
  const bare = aWorld({ meshes: [mesh], views: nodes.map((list) => aView(list)) });
  const views = nodes.map((list, index) =>
    aView(list, { peers: known(planOf(bare, index + 1).peers.map((peer) => heldAs(peer))) }),
  );
  const [one, two] = [{ ...views[0], ...change.one } as ClusterView, { ...views[1], ...change.two } as ClusterView];
  const world: World = aWorld({ meshes: [mesh], views: [one, two] });
  const report = (target: number): TargetReport => ({
    spec: world.spec,
    plan: planTarget(world, conn(target)),
    refusals:
      change.refusals ?? (change.failures ?? []).map((text) => ({ text, owners: [mesh.id], peer: "x" as PeerName })),
    pending: change.pending ?? 0,
  });
  const reports = new Map([1, 2].map((target) => [conn(target), report(target)]));
  return meshStatus({ world, connected: connected(mesh), reports, ledger: [], nowMs: 0 });
}

const ready = (status: ReturnType<typeof synced>) => status.conditions.find(({ type }) => type === "Ready");

describe("the status of a mesh that was refused", () => {
  const refused = refusedStatus(2, [{ field: "spec", message: "no" }]).conditions;

  it("has every condition of an accepted one, so that no word on an earlier spec is left standing", () => {
    expect(refused.map(({ type }) => type).sort()).toEqual(
      synced()
        .conditions.map(({ type }) => type)
        .sort(),
    );
    const merged = mergeConditions(mergeConditions([], synced().conditions, "then"), refused, "now");
    expect(merged.filter(({ observedGeneration }) => observedGeneration !== 2)).toEqual([]);
  });

  it("does not know whether a withdrawal is held: nobody judges its Peers", () => {
    const said = refused.find(({ type }) => type === "WithdrawalHeld");
    expect(said).toMatchObject({ status: "Unknown", reason: "Invalid" });
  });
});

describe("the status of a mesh", () => {
  it("is ready when every cluster is known and every write done", () => {
    const status = synced();
    expect(ready(status)).toMatchObject({ status: "True", reason: "Synced" });
    expect(status.clusters).toMatchObject([
      { name: "c1", state: "Known", nodes: 2, registeredPeers: 2, skippedNodes: 0 },
      { name: "c2", state: "Known", nodes: 1, registeredPeers: 1, skippedNodes: 0 },
    ]);
  });

  it("is not ready while a cluster is unknown, and says which and why", () => {
    const status = synced({ two: { nodes: unknown } });
    expect(ready(status)).toMatchObject({ status: "False", reason: "ClustersUnknown" });
    expect(ready(status)?.message).toBe(`c2: Unreachable. ${unknownReasons.Unreachable.hint}`);
    expect(status.clusters[1]).toMatchObject({ state: "Unknown", reason: "Unreachable" });
  });

  it("says of a cluster that needs a person what exactly is wrong there", () => {
    const status = synced({
      two: { nodes: { state: "unknown", reason: "Forbidden", detail: "list nodes: forbidden" } },
    });
    expect(ready(status)?.message).toBe(`c2: Forbidden. list nodes: forbidden. ${unknownReasons.Forbidden.hint}`);
  });

  it("is not ready when a cluster has no Peer definition", () => {
    const status = synced({ two: { peers: { state: "unknown", reason: "PeerCRDMissing" } } });
    expect(status.clusters[1]).toMatchObject({ state: "Unknown", reason: "PeerCRDMissing" });
    expect(ready(status)?.status).toBe("False");
  });

  it("is not ready when a write failed", () => {
    expect(ready(synced({ failures: ["create x: forbidden"] }))).toMatchObject({ reason: "WritesFailed" });
  });

  it("is ready when only a write for another mesh was refused", () => {
    expect(
      ready(
        synced({
          refusals: [{ text: "create x: forbidden", owners: [meshId("other", "mesh")], peer: "x" as PeerName }],
        }),
      ),
    ).toMatchObject({ reason: "Synced" });
  });

  it("is not ready while changes wait for the next phase", () => {
    expect(ready(synced({ pending: 1 }))).toMatchObject({ status: "False", reason: "Syncing" });
  });

  it("is not ready on the word of a run that saw an earlier spec", () => {
    const world = aWorld({ meshes: [mesh], views: [aView([aNode(1, 0)]), aView([aNode(2, 0)])] });
    const stale = { spec: {}, plan: planTarget(world, conn(1)), refusals: [], pending: 0 };
    const reports = new Map([1, 2].map((target) => [conn(target), stale]));
    const status = meshStatus({ world, connected: connected(mesh), reports, ledger: [], nowMs: 0 });
    expect(ready(status)).toMatchObject({ reason: "Syncing" });
  });

  it("names the reason of skipped nodes, with examples", () => {
    const status = synced({ one: { nodes: known([aNode(1, 0), aNode(1, 1, { key: "" })]) } });
    expect(status.clusters[0]).toMatchObject({
      skippedNodes: 1,
      skipped: [{ reason: "NodeNoPublicKey", count: 1, examples: ["c1-n1"] }],
    });
  });
});

describe("a node that is skipped", () => {
  it("does not count as peered, although its Peer is still there", () => {
    const status = synced({ one: { nodes: known([aNode(1, 0), aNode(1, 1, { wireguardIp: "" })]) } });
    const links = { up: 0, expected: 1 };
    expect(status.clusters[0]).toMatchObject({ nodes: 2, registeredPeers: 1, skippedNodes: 1, links });
  });
});

describe("a condition", () => {
  const now = { type: "Ready", status: "True", reason: "Synced", message: "", observedGeneration: 1 } as const;

  it("keeps its transition time while its status does not turn", () => {
    const [first] = mergeConditions([], [now], "2026-01-01T00:00:00Z");
    if (!first) throw new Error("unreachable");
    const [same] = mergeConditions([first], [{ ...now, message: "other" }], "2026-01-02T00:00:00Z");
    const [turned] = mergeConditions([first], [{ ...now, status: "False" }], "2026-01-02T00:00:00Z");
    expect(same?.lastTransitionTime).toBe("2026-01-01T00:00:00Z");
    expect(turned?.lastTransitionTime).toBe("2026-01-02T00:00:00Z");
  });

  it("of somebody else stays", () => {
    const foreign = { ...now, type: "Theirs", lastTransitionTime: "2026-01-01T00:00:00Z" };
    expect(mergeConditions([foreign], [now], "2026-01-02T00:00:00Z").map(({ type }) => type)).toEqual([
      "Ready",
      "Theirs",
    ]);
  });
});

describe("a source is new to a target", () => {
  const planWith = (count: number) => {
    const nodes = [0, 1].slice(0, count).map((index) => aNode(1, index));
    return planTarget(aWorld({ meshes: [aMesh(2)], views: [aView(nodes), aView([aNode(2, 0)])] }), conn(2));
  };

  it("when it gives its first nodes, and not when it gives another", () => {
    expect([planWith(1), planWith(2)].map((plan) => hasNewSource(plan, planWith(0)))).toEqual([true, true]);
    expect(hasNewSource(planWith(2), planWith(1))).toBe(false);
    expect(hasNewSource(planWith(1), undefined)).toBe(true);
    expect(hasNewSource(planWith(0), undefined)).toBe(false);
  });
});
