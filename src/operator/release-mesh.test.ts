import { describe, expect, it } from "vitest";
import { aNode, aView, conn, unknown } from "../../test/support/build.ts";
import { ago, finalizers, peersOfMesh, play, type Scene, terminating } from "../../test/support/tended-mesh.ts";
import type { ClusterMeshStatus } from "../api/schema.ts";
import { clusterName, meshId, nodeName, peerName } from "../core/ids.ts";
import { conditionReasons } from "../core/reasons.ts";
import type { Refusal } from "../core/status.ts";
import type { EntryConnection } from "../core/world.ts";

describe("a deleted mesh", () => {
  const ends = (writes: readonly string[]): string[] => writes.filter((write) => !write.startsWith("status"));
  const released = 'metadata {"resourceVersion":"7","finalizers":[]}';

  it("is released when no cluster of its ledger holds Peers of it", async () => {
    const { writes, outcome } = play({ metadata: { finalizers, deletionTimestamp: ago(1) } });
    expect(await outcome).toMatchObject({ kind: "done" });
    expect(writes).toEqual([released]);
  });

  it("waits for a cluster that holds Peers of it, however long", async () => {
    const { writes, outcome } = play({
      metadata: { finalizers, deletionTimestamp: ago(9999) },
      two: { peers: peersOfMesh() },
    });
    expect(await outcome).toMatchObject({ kind: "waiting" });
    expect(writes).toEqual([]);
  });

  it.each([
    { seconds: 4, expected: [] },
    { seconds: 5, expected: [released] },
  ])("after $seconds seconds leaves what is also of a mesh that is not accepted: $expected", async (when) => {
    const other = meshId("theirs", "other");
    const metadata = { finalizers, deletionTimestamp: ago(when.seconds) };
    const { writes, outcome } = play({ metadata, two: { peers: peersOfMesh(other) }, refused: new Set([other]) });
    await outcome;
    expect(writes).toEqual(when.expected);
  });

  it("does not wait for a cluster whose Secret is gone, and says what may be left there", async () => {
    const second: EntryConnection = { state: "unknown", reason: "SecretMissing" };
    const { writes, outcome } = play({ metadata: { finalizers, deletionTimestamp: ago(1) }, second });
    await outcome;
    expect(writes).toEqual([released, "left in c2 (its Secret is gone)"]);
  });

  it("names a cluster once that was reached through two Secrets", async () => {
    const second: EntryConnection = { state: "unknown", reason: "SecretMissing" };
    const { writes, outcome } = play({ metadata: { finalizers, deletionTimestamp: ago(1) }, second, other: second });
    await outcome;
    expect(writes).toEqual([released, "left in c2 (its Secret is gone)"]);
  });

  it("counts a cluster without Kilo's Peer type as empty", async () => {
    const two = { peers: { state: "unknown", reason: "PeerCRDMissing" } } as const;
    const { writes, outcome } = play({ metadata: { finalizers, deletionTimestamp: ago(1) }, two });
    await outcome;
    expect(writes).toEqual([released]);
  });

  const givenUp = [released, "left in c2 (Unreachable)"];

  it.each([
    { how: "ten minutes", seconds: 599, expected: [] },
    { how: "ten minutes and then gives it up", seconds: 600, expected: givenUp },
    { how: "as long as its spec says", seconds: 89, deletionTimeout: "1m30s", expected: [] },
    { how: "as its spec says and then gives it up", seconds: 90, deletionTimeout: "1m30s", expected: givenUp },
    { how: "for ever where its spec says 0", seconds: 1e6, deletionTimeout: "0", expected: [] },
  ])("waits $how for a cluster that does not answer", async ({ seconds, deletionTimeout, expected }) => {
    const scene = { metadata: { finalizers, deletionTimestamp: ago(seconds) }, two: { peers: unknown } };
    const { writes, outcome } = play({ ...scene, ...(deletionTimeout && { deletionTimeout }) });
    await outcome;
    expect(ends(writes)).toEqual(expected);
  });

  it.each([
    { seconds: 59, expected: [] },
    { seconds: 60, expected: givenUp },
  ])(
    "is kept by a cluster that $seconds seconds of looking did not reach: $expected",
    async ({ seconds, expected }) => {
      const metadata = { finalizers, deletionTimestamp: ago(9999) };
      const { writes, outcome } = play({ metadata, two: { peers: unknown }, uptimeMs: seconds * 1000 });
      await outcome;
      expect(ends(writes)).toEqual(expected);
    },
  );

  const peer = peerName({ mesh: "my-mesh", source: clusterName("c1"), node: nodeName("c1-n0") }, String);
  const forbidden: Refusal = {
    peer,
    owners: [meshId("kilo-system", "my-mesh")],
    text: `delete ${peer}: forbidden`,
    isDenied: true,
  };

  it.each([
    { how: "ten minutes", seconds: 599, left: [] },
    { how: "ten minutes and then gives it up", seconds: 600, left: [released, `left in c2 (${forbidden.text})`] },
    { how: "for ever where its spec says 0", seconds: 1e6, deletionTimeout: "0", left: [] },
  ])("waits $how for a cluster that refuses to delete its Peers", async ({ seconds, deletionTimeout, left }) => {
    const scene = { metadata: { finalizers, deletionTimestamp: ago(seconds) }, two: { peers: peersOfMesh() } };
    const { writes, outcome } = play({ ...scene, refusals: [forbidden], ...(deletionTimeout && { deletionTimeout }) });
    await outcome;
    expect(ends(writes)).toEqual(left);
  });

  it.each([
    {
      why: "refuses",
      two: { peers: peersOfMesh() },
      refusals: [forbidden, forbidden],
      said: `${forbidden.text}, and 1 more`,
    },
    { why: "does not answer", two: { peers: unknown }, said: "Unreachable" },
    { why: "holds Peers with finalizers", two: { peers: terminating() }, said: `${peer} is kept by its finalizers` },
  ])("says after five seconds that a cluster $why, and what to do", async ({ two, refusals = [], said }) => {
    const message = `c2: ${said}. ${conditionReasons.DeletionHeld.hint}`;
    const early = play({ metadata: { finalizers, deletionTimestamp: ago(4) }, two, refusals });
    expect(await early.outcome).toMatchObject({ kind: "waiting" });
    const { writes, told, outcome } = play({ metadata: { finalizers, deletionTimestamp: ago(5) }, two, refusals });
    expect(await outcome).toMatchObject({ kind: "waiting" });
    const [patch = ""] = writes.map((write) => write.replace(/^status /, ""));
    const { conditions } = JSON.parse(patch) as ClusterMeshStatus;
    expect(conditions).toMatchObject([
      { type: "Degraded", status: "True", reason: "DeletionHeld", message },
      { type: "Ready", status: "False", reason: "DeletionHeld", message },
    ]);
    expect([early.writes, early.told, told]).toEqual([[], [], [`Warning DeletionHeld ${message}`]]);
  });

  it("keeps what was said of its clusters, and its ledger", async () => {
    const status = { clusters: [{ name: "c2", registeredPeers: 1, skippedNodes: 0 }], ledger: [{ cluster: "c1" }] };
    const scene = { metadata: { finalizers, deletionTimestamp: ago(10) }, two: { peers: unknown } };
    const { writes, outcome } = play({ ...scene, status });
    await outcome;
    expect(writes).toHaveLength(1);
    expect(writes[0]).toContain('"clusters":[{"name":"c2"');
    expect(writes[0]).not.toContain("ledger");
  });

  it("waits for what a conflict kept: that is planned anew at once", async () => {
    const { isDenied: _, ...conflict } = forbidden;
    const scene = { metadata: { finalizers, deletionTimestamp: ago(9999) }, two: { peers: peersOfMesh() } };
    const { writes, outcome } = play({ ...scene, refusals: [conflict] });
    expect(await outcome).toMatchObject({ kind: "waiting" });
    expect(writes).toEqual([]);
  });

  it.each<[string, Partial<Scene>]>([
    ["its clusters have been looked up since", { isLookedUp: false }],
    ["what was begun before has come to its end", { isPlanned: false }],
  ])("is not released before %s", async (_, scene) => {
    const { writes, outcome } = play({ metadata: { finalizers, deletionTimestamp: ago(1) }, ...scene });
    expect(await outcome).toMatchObject({ kind: "waiting" });
    expect(writes).toEqual([]);
  });

  const before = conn(3);
  const replaced = [released, "left in c2 (where its Secret led before)"];
  const noted = { name: "c2", registeredPeers: 1, skippedNodes: 0, notes: [{ reason: "ClusterReplaced", count: 1 }] };

  it.each<{ what: string; seconds: number; expected: readonly string[] } & Partial<Scene>>([
    { what: "waits for it", seconds: 4, before, third: aView([aNode(3, 0)], { peers: peersOfMesh() }), expected: [] },
    {
      what: "tells of it",
      seconds: 5,
      before,
      third: aView([aNode(3, 0)], { peers: peersOfMesh() }),
      expected: replaced,
    },
    {
      what: "tells that it is lost",
      seconds: 1,
      before,
      third: aView([], { nodes: unknown, peers: unknown, trust: "its" }),
      expected: replaced,
    },
    { what: "says nothing where it is empty", seconds: 1, before, third: aView([aNode(3, 0)]), expected: [released] },
    {
      what: "says nothing where it is the same",
      seconds: 1,
      before,
      third: aView([aNode(2, 0)], { peers: unknown }),
      expected: [released],
    },
    { what: "tells what another operator knew", seconds: 1, status: { clusters: [noted] }, expected: replaced },
    {
      what: "says nothing once it is closed",
      seconds: 1,
      before: "closed",
      status: { clusters: [noted] },
      expected: [released],
    },
  ])("whose Secret led to another cluster before $what", async ({ seconds, expected, ...scene }) => {
    const { writes, outcome } = play({ metadata: { finalizers, deletionTimestamp: ago(seconds) }, ...scene });
    await outcome;
    expect(ends(writes)).toEqual(expected);
  });

  it("that somebody else has released needs nothing", async () => {
    const { writes, outcome } = play({ metadata: { finalizers: ["theirs"], deletionTimestamp: ago(1) } });
    expect(await outcome).toMatchObject({ kind: "done" });
    expect(writes).toEqual([]);
  });
});
