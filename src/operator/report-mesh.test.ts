import { beforeEach, describe, expect, it } from "vitest";
import { aMeshObject, aNode, aView, aWorld, conn, heldAs, known, planOf, unknown } from "../../test/support/build.ts";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { type ClusterMeshObject, readMesh } from "../api/cluster-mesh.ts";
import type { ClusterMeshStatus } from "../api/schema.ts";
import { renderLedger } from "../api/stored-status.ts";
import type { DrainRow } from "../core/drain.ts";
import { clusterName } from "../core/ids.ts";
import { planTarget } from "../core/plan.ts";
import type { ClusterView, World } from "../core/world.ts";
import { type ReportPorts, reportMesh } from "./report-mesh.ts";

const dayMs = 86_400_000;
const clock = new FakeClock();
const plain = aMeshObject(2);

let stored: ClusterMeshStatus | undefined;
/** What the API server leaves of a status, as an older definition does. */
let prunes: (status: ClusterMeshStatus) => ClusterMeshStatus;
let uptimeMs: number;
let written: ReportPorts["written"];
let patches: number;
/** What each write of a status said of the ledger, and of which version. */
let ledgers: string[];
let told: string[];

beforeEach(() => {
  stored = undefined;
  prunes = (status) => status;
  uptimeMs = 3_600_000;
  written = new Map();
  patches = 0;
  ledgers = [];
  told = [];
});

/** Both clusters hold what they should; the second as it is said. */
function worldWith(two: Partial<ClusterView> = {}): World {
  const record = readMesh(plain);
  if (record.state === "refused") throw new Error("unreachable");
  const lists = [[aNode(1, 0)], [aNode(2, 0)]];
  const meshes = [record.mesh];
  const bare = aWorld({ meshes, views: lists.map((nodes) => aView(nodes)) });
  const held = [1, 2].map((target) => known(planOf(bare, target).peers.map((peer) => heldAs(peer))));
  const views = lists.map((nodes, index) => aView(nodes, { peers: held[index] ?? unknown, ...(index === 1 && two) }));
  return aWorld({ meshes, views });
}

/** One run over the mesh as the API server has it. */
function report(two: Partial<ClusterView> = {}, ledger: readonly DrainRow[] = []) {
  const world = worldWith(two);
  const metadata = { ...plain.metadata, resourceVersion: "7" };
  const object: ClusterMeshObject = { ...plain, metadata, ...(stored && { status: stored }) };
  const reports = [1, 2].map((target) => {
    const plan = planTarget(world, conn(target));
    return [conn(target), { spec: world.spec, plan, refusals: [], pending: 0 }] as const;
  });
  return reportMesh(readMesh(object).id, {
    mesh: () => readMesh(object),
    observe: () => world,
    reports: new Map(reports),
    clock,
    uptimeMs: () => uptimeMs,
    written,
    ledger: () => ledger,
    patchStatus: async (_, patch, version) => {
      patches++;
      ledgers.push(`${patch.ledger?.map(({ cluster }) => cluster) ?? "as it is"} on ${version ?? "any"}`);
      const merged = Object.entries({ ...stored, ...patch }).filter(([, value]) => value !== null);
      stored = prunes(JSON.parse(JSON.stringify(Object.fromEntries(merged))) as ClusterMeshStatus);
      return undefined;
    },
    tell: (_, events) => void told.push(...events.map(({ reason }) => reason)),
    tellLeftovers: (_, left) => void told.push(...left.map(({ cluster, why }) => `left in ${cluster} ${why}`)),
  });
}

/** A row of a ledger that leads to the second cluster. */
const row = (cluster: string, name: string): DrainRow => ({
  cluster: clusterName(cluster),
  reach: { name, key: "kubeconfig" },
  connection: { state: "connected", id: conn(2) },
});

const readyReason = () => stored?.conditions?.find(({ type }) => type === "Ready")?.reason;
const degradedReason = () => stored?.conditions?.find(({ type }) => type === "Degraded")?.reason;

describe("the status of a mesh", () => {
  it("is written once while nothing changes, and told once", async () => {
    for (let run = 0; run < 5; run++) {
      expect(await report()).toEqual({ kind: "done" });
      clock.jump(60_000);
    }
    expect([patches, told]).toEqual([1, ["Synced"]]);
    expect(stored?.summary).toEqual({ clusters: "2/2", peers: 2, skipped: 0, links: "0/2" });
  });

  it("is written at most once in ten seconds, but for the first", async () => {
    await report();
    expect(await report({ nodes: unknown })).toMatchObject({ kind: "waiting", afterMs: 10_000 });
    clock.jump(10_000);
    expect(await report({ nodes: unknown })).toEqual({ kind: "done" });
    expect([patches, readyReason()]).toEqual([2, "ClustersUnknown"]);
  });

  it("loses the fields that are no more", async () => {
    stored = { clustersLeftOut: 7 };
    await report();
    expect(stored).not.toHaveProperty("clustersLeftOut");
  });

  it("names each cluster that may hold Peers once, though its Secret or its name in the mesh is another now", async () => {
    const rows = [row("c2", "before"), row("c2", "c2"), row("another-name", "c2")];
    stored = { ledger: renderLedger(rows) };
    await report({}, rows);
    expect(stored?.ledger).toEqual([{ cluster: "c2", kubeconfigSecretRef: { name: "c2", key: "kubeconfig" } }]);
  });

  it("loses a row of the ledger only on the version that it was judged by, and says nothing of it otherwise", async () => {
    const rows = [row("c2", "c2"), row("c2", "before")];
    stored = { ledger: renderLedger(rows.slice(0, 1)) };
    await report({}, rows.slice(0, 1));
    stored = { ledger: renderLedger(rows) };
    clock.jump(60_000);
    await report({}, rows);
    expect(ledgers).toEqual(["as it is on any", "c2 on 7"]);
  });

  it("keeps the rows that came after the clusters were last looked up", async () => {
    stored = { ledger: renderLedger([row("c2", "c2"), row("c3", "c3"), row("c2", "before")]) };
    await report({}, [row("c2", "c2")]);
    expect(ledgers).toEqual(["as it is on any"]);
    expect(stored?.ledger).toHaveLength(3);
  });

  it("is not written again and again to a definition that drops fields of it", async () => {
    prunes = ({ summary: _, ...status }) => status;
    await report();
    clock.jump(60_000);
    expect(await report()).toMatchObject({ kind: "waiting", afterMs: 240_000 });
    expect(patches).toBe(1);
  });
});

describe("a cluster that was being emptied because its Secret had changed", () => {
  const replacing = [{ reason: "ClusterReplaced", count: 1 }];
  const clusters = [{ name: "c2", registeredPeers: 1, skippedNodes: 0, notes: replacing }];

  it("is told to be lost by an operator that has not seen it", async () => {
    stored = { clusters };
    await report({}, [row("c2", "c2")]);
    expect(told).toContain("left in c2 where its Secret led before");
    clock.jump(60_000);
    told = [];
    await report({}, [row("c2", "c2")]);
    expect(told).toEqual([]);
  });

  it("is no more news for the one that has emptied it", async () => {
    stored = { clusters };
    await report({}, [{ ...row("c2", "c2"), before: "closed" }]);
    expect(told).toEqual(["Synced"]);
  });
});

describe("an operator that starts", () => {
  beforeEach(async () => {
    await report({ nodes: { state: "unknown", reason: "Unreachable" } });
    written = new Map();
    patches = 0;
  });

  it("leaves what its predecessor said of this spec until it has looked at everything", async () => {
    uptimeMs = 500;
    expect(await report({ nodes: { state: "unknown", reason: "Connecting" } })).toMatchObject({ kind: "waiting" });
    expect(await report()).toMatchObject({ kind: "waiting" });
    uptimeMs = 10_000;
    expect(await report()).toEqual({ kind: "done" });
    expect([patches, readyReason()]).toEqual([1, "Synced"]);
  });

  it("does not say that it is connecting to a cluster of which its predecessor said more", async () => {
    uptimeMs = 30_000;
    expect(await report({ nodes: { state: "unknown", reason: "Connecting" } })).toMatchObject({ kind: "waiting" });
    expect(await report({ nodes: { state: "unknown", reason: "Unreachable", detail: "timeout" } })).toEqual({
      kind: "done",
    });
    expect(patches).toBe(0);
  });

  it("says so after a minute", async () => {
    uptimeMs = 60_000;
    await report({ nodes: { state: "unknown", reason: "Connecting" } });
    expect(patches).toBe(1);
  });

  it("says of a new spec at once that all is well, and nothing else", async () => {
    stored = { observedGeneration: 0 };
    uptimeMs = 500;
    expect(await report({ nodes: { state: "unknown", reason: "Connecting" } })).toMatchObject({ kind: "waiting" });
    await report();
    expect([patches, readyReason()]).toEqual([1, "Synced"]);
  });
});

describe("a credential that ends", () => {
  it("wakes the status by itself, once a week before its end and once at its end", async () => {
    const ends = { credentialEndsAtMs: clock.date().getTime() + 10 * dayMs };
    expect(await report(ends)).toEqual({ kind: "waiting", reason: "a credential ends", afterMs: 3 * dayMs });
    expect(degradedReason()).toBe("AsDeclared");
    clock.jump(3 * dayMs);
    expect(await report(ends)).toMatchObject({ afterMs: 7 * dayMs });
    expect(degradedReason()).toBe("CredentialEnding");
    clock.jump(dayMs);
    expect(await report(ends)).toMatchObject({ afterMs: 6 * dayMs });
    clock.jump(6 * dayMs);
    expect(await report(ends)).toEqual({ kind: "done" });
    expect([degradedReason(), patches]).toEqual(["CredentialEnded", 3]);
    expect(told).toEqual(["Synced", "CredentialEnding", "CredentialEnded"]);
  });
});

describe("a mesh that is refused", () => {
  it("says every mistake, waits for no start and is Degraded", async () => {
    uptimeMs = 0;
    const object = { ...plain, spec: { clusters: [{ name: "only" }] } };
    const record = readMesh(object);
    let status: unknown;
    await reportMesh(record.id, {
      mesh: () => record,
      observe: () => undefined,
      reports: new Map(),
      clock,
      uptimeMs: () => uptimeMs,
      written,
      ledger: () => [],
      patchStatus: async (_, patch) => {
        status = patch;
        return undefined;
      },
      tell: () => undefined,
      tellLeftovers: () => undefined,
    });
    const invalid = (type: string, is: string) => expect.objectContaining({ type, status: is, reason: "Invalid" });
    expect(status).toMatchObject({
      conditions: expect.arrayContaining([invalid("Accepted", "False"), invalid("Degraded", "True")]),
    });
  });
});
