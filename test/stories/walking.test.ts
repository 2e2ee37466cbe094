import { afterEach, describe, expect, it } from "vitest";
import { clusterMeshes } from "../../src/api/cluster-mesh.ts";
import { nodes } from "../../src/api/kilo-node.ts";
import { peers } from "../../src/api/kilo-peer.ts";
import { secrets } from "../../src/api/kubeconfig-secret.ts";
import { demoMeshRef } from "../../src/cli/demo-mesh.ts";
import { eventually } from "../support/eventually.ts";
import { type Stage, startStage } from "../support/run-operator.ts";

let stage: Stage;
afterEach(() => stage.stop());

const namespace = demoMeshRef.namespace;
const peerOf = (letter: string, index: number): string => `my-mesh--cluster-${letter}--cluster-${letter}-${index}`;

/** Every Peer event so far in a cluster, told by a count of the operator's deletions. */
const deletions = (): number => stage.requests().filter((text) => text.includes(" delete peers")).length;

describe("a node", () => {
  it("that joins becomes a Peer in all the others, with one write in each", async () => {
    stage = await startStage();
    await stage.synced();
    for (const cluster of stage.fleet.sandbox.clusters) cluster.requests.clear();
    stage.addNode(0, 5);
    await stage.synced();
    const written = stage.requests().filter((text) => text.includes("peers"));
    expect(written.sort()).toEqual([`cluster-b create peers.kilo.squat.ai`, `cluster-c create peers.kilo.squat.ai`]);
  });

  it("that is deleted and registers again within the grace costs nobody a session", async () => {
    stage = await startStage();
    await stage.synced();
    const uid = stage.peer(1, peerOf("a", 1))?.metadata.uid;
    stage.deleteNode(0, 0);
    stage.addNode(0, 0);
    stage.addNode(0, 7);
    await stage.synced();
    expect(stage.peer(1, peerOf("a", 1))?.metadata.uid).toBe(uid);
    expect(deletions()).toBe(0);
  });

  it("that stays deleted loses its Peers after the grace", async () => {
    stage = await startStage();
    await stage.synced();
    stage.deleteNode(0, 0);
    await stage.synced();
    expect(stage.peerNames(1)).not.toContain(peerOf("a", 1));
  });

  it("whose annotations a restarting Kilo removes keeps its Peers", async () => {
    stage = await startStage();
    await stage.synced();
    const annotations = { "kilo.squat.ai/key": null, "kilo.squat.ai/wireguard-ip": null };
    stage.cluster(0).store.patch(nodes, { name: "cluster-a-1" }, { metadata: { annotations } });
    stage.addNode(0, 7);
    await eventually(() => expect(stage.peerNames(1)).toContain(peerOf("a", 8)));
    expect(stage.peerNames(1)).toContain(peerOf("a", 1));
  });
});

describe("a Peer of ours", () => {
  it("that somebody deletes or edits is put right", async () => {
    stage = await startStage();
    await stage.synced();
    const { store } = stage.cluster(1);
    store.delete(peers, { name: peerOf("a", 1) });
    store.patch(peers, { name: peerOf("a", 2) }, { spec: { allowedIPs: ["10.99.0.0/16"], presharedKey: "theirs" } });
    await stage.synced();
    await eventually(() => expect(stage.peer(1, peerOf("a", 2))?.spec.allowedIPs).not.toContain("10.99.0.0/16"));
    expect(stage.peer(1, peerOf("a", 2))?.spec.presharedKey).toBe("theirs");
  });
});

describe("a cluster", () => {
  it("that cannot be reached keeps its Peers in the others, is reported, and comes back", async () => {
    stage = await startStage();
    await stage.synced();
    await stage.cluster(2).stopListening();
    await eventually(() =>
      expect(stage.readyCondition()).toMatchObject({ status: "False", reason: "ClustersUnknown" }),
    );
    stage.addNode(0, 7);
    await eventually(() => expect(stage.peerNames(1)).toContain(peerOf("a", 8)));
    expect(stage.peerNames(1)).toContain(peerOf("c", 1));
    await stage.cluster(2).startListening();
    await stage.synced();
    expect(deletions()).toBe(0);
  });

  it("whose Secret is missing is unknown until the Secret is there", async () => {
    stage = await startStage();
    await stage.synced();
    const { store } = stage.cluster(0);
    const name = "cluster-c-kubeconfig";
    const { data } = store.get(secrets, { namespace, name });
    store.delete(secrets, { namespace, name });
    await eventually(() => expect(stage.readyCondition()?.message).toContain("cluster-c: SecretMissing"));
    expect(stage.peerNames(1)).toContain(peerOf("c", 1));
    expect(stage.peerNames(2)).toContain(peerOf("a", 1));
    store.create(secrets, { metadata: { namespace, name }, ...(data && { data }) });
    await stage.synced();
    expect(deletions()).toBe(0);
  });

  it("whose token is exchanged is connected again without a restart and without a write", async () => {
    stage = await startStage();
    await stage.synced();
    const remote = stage.cluster(1);
    remote.addToken("a-new-token");
    const kubeconfig = Buffer.from(remote.kubeconfig({ token: "a-new-token" })).toString("base64");
    const ref = { namespace, name: "cluster-b-kubeconfig" };
    const before = stage.requests().filter((text) => / (create|update|delete) peers/.test(text)).length;
    stage.cluster(0).store.patch(secrets, ref, { data: { kubeconfig } });
    remote.revokeToken(remote.adminToken);
    await eventually(() => expect(remote.requests.count({ verb: "list", resource: "nodes", code: 200 })).toBe(2));
    await stage.synced();
    expect(stage.requests().filter((text) => / (create|update|delete) peers/.test(text))).toHaveLength(before);
  });

  it("that two meshes reach with different tokens is written by one of them, with the wishes of both", async () => {
    stage = await startStage();
    await stage.synced();
    const remote = stage.cluster(1);
    const { store } = stage.cluster(0);
    remote.addToken("another-token");
    const kubeconfig = Buffer.from(remote.kubeconfig({ token: "another-token" })).toString("base64");
    store.create(secrets, { metadata: { namespace, name: "other-b" }, data: { kubeconfig } });
    const { spec } = store.get(clusterMeshes, demoMeshRef) as { spec: { clusters: object[] } };
    const [first, second] = spec.clusters;
    const clusters = [first, { ...second, kubeconfigSecretRef: { name: "other-b", key: "kubeconfig" } }];
    store.create(clusterMeshes, { metadata: { namespace, name: "other" }, spec: { clusters } });
    const owners = (): string | undefined =>
      stage.peer(1, peerOf("a", 1))?.metadata.annotations?.["kilo-clustermesh.io/owners"];
    await eventually(() => expect(owners()).toBe("kilo-system/my-mesh,kilo-system/other"));
    const writes = (): number => stage.requests().filter((text) => / (update|create|delete) peers/.test(text)).length;
    const before = writes();
    stage.addNode(2, 7);
    await stage.synced();
    expect(writes()).toBe(before + 2);
  });

  it("that leaves the mesh is emptied, and disappears from the others", async () => {
    stage = await startStage();
    await stage.synced();
    const { store } = stage.cluster(0);
    const { spec } = store.get(clusterMeshes, demoMeshRef) as { spec: { clusters: unknown[] } };
    store.patch(clusterMeshes, demoMeshRef, { spec: { clusters: spec.clusters.slice(0, 2) } });
    await eventually(() => expect(stage.peerNames(2)).toEqual([]));
    await eventually(() => expect(stage.peerNames(0)).toEqual([peerOf("b", 1), peerOf("b", 2)]));
  });
});

describe("a mesh", () => {
  it("that is deleted takes its Peers along", async () => {
    stage = await startStage();
    await stage.synced();
    stage.cluster(0).store.delete(clusterMeshes, demoMeshRef);
    for (const number of [0, 1, 2]) await eventually(() => expect(stage.peerNames(number)).toEqual([]));
  });

  it("that becomes invalid is refused with the field named, and keeps its Peers", async () => {
    stage = await startStage();
    await stage.synced();
    const { store } = stage.cluster(0);
    const { spec } = store.get(clusterMeshes, demoMeshRef) as { spec: { clusters: object[] } };
    const clusters = spec.clusters.map((entry, index) => (index === 1 ? { ...entry, serviceCIDR: "nonsense" } : entry));
    store.patch(clusterMeshes, demoMeshRef, { spec: { clusters } });
    await eventually(() => expect(stage.readyCondition()?.message).toContain("spec.clusters[1].serviceCIDR"));
    expect(stage.peerNames(1)).toContain(peerOf("a", 1));
    expect(deletions()).toBe(0);
  });
});

describe("the operator", () => {
  it("that starts again writes nothing", async () => {
    stage = await startStage();
    await stage.synced();
    await stage.restartOperator();
    for (const cluster of stage.fleet.sandbox.clusters) cluster.requests.clear();
    await eventually(() => expect(stage.requests().filter((text) => text.includes("list nodes"))).toHaveLength(3));
    stage.addNode(0, 7);
    await stage.synced();
    const writes = stage
      .requests()
      .filter((text) => / (create|update|patch|delete) /.test(text) && !text.includes("/status"));
    expect(writes.filter((text) => text.includes("peers"))).toHaveLength(2);
    expect(writes.filter((text) => text.includes("customresourcedefinitions"))).toEqual([]);
  });
});
