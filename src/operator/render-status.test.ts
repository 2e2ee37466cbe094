import { describe, expect, it } from "vitest";
import type { ClusterMeshStatus } from "../api/schema.ts";
import { clusterMeshStatus } from "../api/schema.ts";
import { type ClusterName, clusterName } from "../core/ids.ts";
import { reasonRows } from "../core/reason-rows.ts";
import { type NoteReason, noteReasons, type SkipReason, skipReasons, unknownReasons } from "../core/reasons.ts";
import { type ClusterStatus, type MeshStatus, type RefusedStatus, refusedStatus } from "../core/status.ts";
import { verdict } from "../core/verdict.ts";
import { renderStatus, statusPatch } from "./render-status.ts";

const at = new Date("2026-01-01T00:00:00Z");
const bytes = (status: ClusterMeshStatus): number => Buffer.byteLength(JSON.stringify(status));
const limit = 64 * 1024;

/** A name as long as it may be, of the worst characters that nobody could have kept out. */
const nasty = (index: number, longest: number): string =>
  `${index}-${'"\\\u0000\u{1F600}漢'.repeat(longest)}`.slice(0, longest);
const rows = <Reason extends string>(reasons: object) =>
  reasonRows(
    (Object.keys(reasons) as Reason[]).flatMap((reason) =>
      Array.from({ length: 7 }, (_, index) => ({ reason, subject: nasty(index, 400) })),
    ),
  );

const everyReason = { skipped: rows<SkipReason>(skipReasons), notes: rows<NoteReason>(noteReasons) };

function worstCluster(index: number): ClusterStatus {
  return {
    name: `c${index}-${"x".repeat(58)}`.slice(0, 63) as ClusterName,
    state: "Known",
    message: unknownReasons.Forbidden.hint,
    nodes: 1e6,
    registeredPeers: 1e6,
    skippedNodes: 1e6,
    links: { up: 1e6, expected: 1e6 },
    credentialExpiresAt: "9999-12-31T23:59:59Z",
    ...everyReason,
  };
}

function aStatus(clusters: readonly ClusterStatus[]): MeshStatus {
  const details = Array.from({ length: 100 }, (_, index) => nasty(index, 5000));
  const types = ["Accepted", "Ready", "Degraded", "NetworksOverlap", "WithdrawalHeld"];
  const conditions = types.map((type) => ({ type, observedGeneration: 1, ...verdict("True", "Reason", details) }));
  return { observedGeneration: 1, clusters, conditions };
}

const worst = (count: number): MeshStatus => aStatus(Array.from({ length: count }, (_, index) => worstCluster(index)));
const ledgerOf = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    cluster: `c${index}-${"x".repeat(58)}`,
    kubeconfigSecretRef: { name: `s${index}-${"y".repeat(245)}`.slice(0, 253), key: "kubeconfig" },
  }));

const render = (
  now: MeshStatus | RefusedStatus,
  before: ClusterMeshStatus = {},
  ledger: ReturnType<typeof ledgerOf> = [],
) => renderStatus(now, { before, ledger, at });

describe("the size of a status", () => {
  it.each([2, 30, 100, 1000])("is below 64 KiB with %i clusters and every reason in each", (count) => {
    const status = render(worst(count));
    expect(bytes(status)).toBeLessThan(limit);
    expect(clusterMeshStatus.safeParse(status).success).toBe(true);
    expect(status.summary).toMatchObject({ clusters: `${count}/${count}`, peers: count * 1e6 });
    expect((status.clusters?.length ?? 0) + (status.clustersLeftOut ?? 0)).toBe(count);
  });

  it("is below 64 KiB together with a ledger of a hundred clusters, which is never shortened", () => {
    const status = render(worst(100), {}, ledgerOf(100));
    expect(bytes(status)).toBeLessThan(limit);
    expect(status.ledger).toHaveLength(100);
  });

  it("costs examples first, then messages; reasons and counts stay longest", () => {
    const detailed = (count: number) => render(worst(count)).clusters?.[0];
    expect(detailed(1)?.skipped?.[0]?.examples).toHaveLength(5);
    expect(detailed(3)?.skipped?.[0]?.examples).toHaveLength(2);
    expect(detailed(30)?.skipped).toMatchObject([{ count: 7, examples: [] }, ...Array.from({ length: 8 }, () => ({}))]);
    expect(detailed(100)).toMatchObject({ registeredPeers: 1e6, links: { up: 1e6 } });
  });

  it("is small for a mesh that is refused for many and long mistakes", () => {
    const problems = Array.from({ length: 500 }, (_, index) => ({
      field: nasty(index, 900),
      message: nasty(1, 90_000),
    }));
    expect(bytes(render(refusedStatus(1, problems)))).toBeLessThan(limit);
  });

  it("leaves everything there that fits", () => {
    const now = aStatus([worstCluster(1)]);
    expect(render(now).clusters).toEqual(now.clusters);
    expect(render(now)).not.toHaveProperty("clustersLeftOut");
  });
});

describe("the status of a mesh that is refused", () => {
  const refused = render(refusedStatus(2, [{ field: "spec", message: "no" }]), render(worst(3)));

  it("says nothing of its clusters, where its Peers stay as they are: unknown is not zero", () => {
    expect(refused).not.toHaveProperty("clusters");
    expect(refused).not.toHaveProperty("summary");
  });

  it("takes away what was said of them before", () => {
    const patch = statusPatch(refused, render(worst(1000)));
    expect(patch).toMatchObject({ clusters: null, summary: null, clustersLeftOut: null });
  });
});

describe("a text that was cut", () => {
  it("comes back from an API server as it went: nothing is written again for it", () => {
    const status = render(worst(30));
    expect(JSON.parse(Buffer.from(JSON.stringify(status)).toString("utf8"))).toEqual(status);
    expect(JSON.stringify(status)).not.toMatch(/\\u[0-9a-f]{4}/);
  });
});

describe("a cluster that does not answer", () => {
  const silent = (message: string): ClusterStatus => {
    const counts = { nodes: 0, registeredPeers: 0, skippedNodes: 0 };
    return { name: clusterName("b"), state: "Unknown", reason: "Unreachable", message, ...counts };
  };

  it("keeps the message of the first try while it does not", () => {
    const first = render(aStatus([silent("list nodes: connection refused")]));
    expect(render(aStatus([silent("watch peers: timeout")]), first)).toEqual(first);
  });
});

describe("the patch of a status", () => {
  it("takes away what is no more", () => {
    const before = { clustersLeftOut: 3, observedGeneration: 1 };
    expect(statusPatch({ observedGeneration: 2 }, before)).toEqual({ clustersLeftOut: null, observedGeneration: 2 });
  });
});
