import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ClusterMeshObject, clusterMeshes } from "../src/api/cluster-mesh.ts";
import { nodes } from "../src/api/kilo-node.ts";
import { peers } from "../src/api/kilo-peer.ts";
import { demoMesh, demoMeshRef, demoSummary, prepareDemo } from "../src/cli/demo-mesh.ts";
import { networksIn } from "../src/core/cidr.ts";
import type { OperatorConfig } from "../src/operator/config.ts";
import { type Fleet, fleetNode, startFleet } from "../src/sandbox/fleet.ts";
import type { SandboxCluster } from "../src/sandbox/sandbox.ts";
import { aKey } from "./support/build.ts";
import { eventually } from "./support/eventually.ts";
import { parseExposition } from "./support/exposition.ts";
import { fastClock } from "./support/fast-clock.ts";
import { startWatched, type WatchedOperator } from "./support/watched-operator.ts";

const clock = fastClock(60);
let fleet: Fleet;
let operator: WatchedOperator;

const cluster = (number: number): SandboxCluster => {
  const found = fleet.sandbox.clusters[number];
  if (!found) throw new Error(`no cluster ${number}`);
  return found;
};

async function start(config: Partial<OperatorConfig>): Promise<void> {
  operator = await startWatched(fleet.sandbox, clock, config);
  cluster(0).store.create(clusterMeshes, demoMesh(fleet.sandbox));
}

beforeEach(async () => {
  fleet = await startFleet({ clusters: 2, nodes: 1, clock });
  prepareDemo(fleet.sandbox);
});
afterEach(async () => {
  await operator.stop();
  await fleet.stop();
});

const accepted = (mesh: ClusterMeshObject | undefined) =>
  mesh?.status?.conditions?.find(({ type }) => type === "Accepted");

describe("a mesh that the operator's owner does not allow", () => {
  it.each<[string, Partial<OperatorConfig>, string]>([
    ["--allowed-cidr", { allowedCidrs: networksIn(["10.1.0.0/16"]) }, "outside --allowed-cidr"],
    ["--local-namespaces", { localNamespaces: new Set(["team-a"]) }, "which --local-namespaces does not let"],
  ])("is not accepted, with the reason in its status, and gets no Peer (%s)", async (_, config, words) => {
    await start(config);
    const condition = await eventually(() => {
      const found = accepted(cluster(0).store.find(clusterMeshes, demoMeshRef));
      expect(found?.status).toBe("False");
      return found;
    });
    expect(condition?.message).toContain(words);
    expect(demoSummary(fleet.sandbox).clusters.map((one) => one.peers)).toEqual([0, 0]);
  });
});

describe("a Peer of the Go operator that no mesh explains", () => {
  const ghost = { name: "ghost--cluster-x--n1" };
  const labels = { "kilo-clustermesh.io/mesh": "ghost", "kilo-clustermesh.io/source-cluster": "cluster-x" };
  const stale = { name: "my-mesh--cluster-x--n1" };
  const staleLabels = { ...labels, "kilo-clustermesh.io/mesh": demoMeshRef.name };
  const orphans = async (): Promise<number> =>
    parseExposition(await operator.metrics()).value("kilo_clustermesh_legacy_orphans", { cluster: "cluster-b" });

  beforeEach(() => {
    const { store } = cluster(1);
    store.create(peers, {
      metadata: { ...ghost, labels },
      spec: { publicKey: aKey("ghost"), allowedIPs: ["10.66.0.0/16"] },
    });
    store.create(peers, {
      metadata: { ...stale, labels: staleLabels },
      spec: { publicKey: aKey("stale"), allowedIPs: ["10.67.0.0/16"] },
    });
  });
  const left = () => [ghost, stale].filter((ref) => cluster(1).store.find(peers, ref)).length;

  it("goes with --legacy-orphans=delete when two lists of the meshes agree", async () => {
    await start({ legacyOrphans: "delete" });
    await eventually(() => expect(left()).toBe(0));
  });

  it("stays with --legacy-orphans=report, and is counted, also when the lists agree", async () => {
    await start({ legacyOrphans: "report" });
    await eventually(() => expect(demoSummary(fleet.sandbox).ready).toBe(true));
    await eventually(async () => expect(await orphans()).toBe(2));
    const lists = () =>
      cluster(0).requests.all({ verb: "list", resource: "clustermeshes.kilo.squat.ai", userAgent: "watched-operator" })
        .length;
    await eventually(() => expect(lists()).toBeGreaterThan(1));
    cluster(0).store.create(nodes, fleetNode(0, 7, "cluster-a-8"));
    await eventually(() => expect(cluster(1).store.list(peers)).toHaveLength(4));
    expect([left(), await orphans()]).toEqual([2, 2]);
  });
});
