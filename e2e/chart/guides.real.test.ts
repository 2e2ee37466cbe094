import { afterAll, beforeAll, expect, it } from "vitest";
import { peerCrd } from "../../src/sandbox/kilo/peer-crd.ts";
import { eventually } from "../../test/support/eventually.ts";
import type { AuditEntry } from "../control-plane/audit.ts";
import { type ControlPlane, startControlPlane } from "../control-plane/control-plane.ts";
import { createCrd } from "../control-plane/create-crd.ts";
import { freePort } from "../control-plane/free-port.ts";
import type { RealCluster } from "../control-plane/real-cluster.ts";
import {
  addNode,
  buildBundle,
  byOperator,
  isLease,
  isOpenWatch,
  nodeNameOf,
  peerNamesIn,
  readyOf,
} from "../operator/real-mesh.ts";
import { blocksOf, type Reader, reader } from "./guide.ts";
import { type RunningPod, startPod } from "./pod.ts";
import { namespace, release } from "./render.ts";

const [install, narrow] = blocksOf("install", "sh");
const [grant, makeKubeconfig, makeMesh, lookAgain] = blocksOf("join-a-cluster", "sh");
const [meshFile] = blocksOf("join-a-cluster", "yaml");
const [upgrade, lookAtValues, goBack] = blocksOf("upgrade", "sh");
const [withdraw, uninstall, removeRest, revoke] = blocksOf("uninstall", "sh");

let plane: ControlPlane;
let local: RealCluster;
let remote: RealCluster;
let person: Reader;
let pod: RunningPod;
let health: string;
let metrics: string;

beforeAll(async () => {
  await buildBundle();
  plane = await startControlPlane({ clusters: 2, audit: true, controllerManager: true });
  [local, remote] = plane.clusters as [RealCluster, RealCluster];
  person = reader(plane.directory, local, remote);
  for (const [number, cluster] of plane.clusters.entries()) {
    await createCrd(cluster.admin, peerCrd() as never);
    for (const index of [0, 1]) await addNode(cluster, number, index);
  }
}, 120_000);

afterAll(async () => {
  await pod?.child.stop();
  await plane?.stop();
});

const peersOf = (number: number, ...indexes: number[]): string[] =>
  indexes.map((index) => `my-mesh--${nodeNameOf(number, index).replace(/-\d+$/, "")}--${nodeNameOf(number, index)}`);

async function ofThePod(): Promise<AuditEntry[]> {
  const logs = await Promise.all(plane.clusters.map((cluster) => cluster.audit()));
  return logs.flat().filter(byOperator);
}

async function refusedRequests(): Promise<string[]> {
  return (await ofThePod()).filter(({ code }) => code === 403).map(({ verb, uri, user }) => `${user}: ${verb} ${uri}`);
}

async function restartPod(): Promise<void> {
  await pod?.child.stop();
  pod = await startPod(local, plane.directory);
}

it("the install guide installs the release, and a value can be changed later", async () => {
  expect(await person.types(install)).toContain("STATUS: deployed");
  [health, metrics] = [`127.0.0.1:${await freePort("127.0.0.1")}`, `127.0.0.1:${await freePort("127.0.0.1")}`];
  const settings = `kubeconfigAllow={loopback},healthProbeBindAddress=${health},metricsBindAddress=${metrics}`;
  await person.types(`${upgrade?.trimEnd()} --set '${settings}'`);
  await restartPod();
});

it("the operator's pod answers the probes and serves the metrics that the chart names", async () => {
  await eventually(async () => {
    for (const path of ["/healthz", "/readyz"]) expect((await fetch(`http://${health}${path}`)).status).toBe(200);
  });
  const answer = await fetch(`http://${metrics}/metrics`);
  expect(answer.status).toBe(200);
  expect(await answer.text()).toContain("# HELP");
});

it("the guide to join a cluster ends with a mesh that is ready", async () => {
  await person.types(grant);
  await person.types(makeKubeconfig);
  person.saves("mesh.yaml", meshFile);
  expect(await person.types(makeMesh)).toContain("clustermesh.kilo.squat.ai/my-mesh condition met");
  expect(await peerNamesIn(local)).toEqual(peersOf(1, 0, 1));
  expect(await peerNamesIn(remote)).toEqual(peersOf(0, 0, 1));
  expect(await person.types(lookAgain)).toContain("my-mesh annotated");
});

it("the pod has used nothing but the chart's rights here and the remote file's rights there, and was refused nothing", async () => {
  const users = new Set((await ofThePod()).map(({ user }) => user));
  expect([...users].sort()).toEqual([
    "system:serviceaccount:kilo-system:kilo-clustermesh-operator",
    "system:serviceaccount:kube-system:clustermesh-reader",
  ]);
  expect(await refusedRequests()).toEqual([]);
});

it("with the right to read one Secret by its name alone, all goes on", async () => {
  await person.types(narrow);
  await restartPod();
  await addNode(remote, 1, 2);
  await eventually(async () => expect(await peerNamesIn(local)).toEqual(peersOf(1, 0, 1, 2)));
  await eventually(async () => expect(await readyOf(local)).toBe("True"));
  expect(await refusedRequests()).toEqual([]);
  const secret = `/api/v1/namespaces/${namespace}/secrets`;
  expect((await ofThePod()).filter(({ resource }) => resource === "secrets").map(({ uri }) => uri)).toEqual(
    expect.arrayContaining([expect.stringMatching(new RegExp(`^${secret}\\?.*metadata.name%3Dcluster-b-kubeconfig`))]),
  );
});

it("a mesh that is ready costs nothing but the Lease and open watches", async () => {
  const count = async (): Promise<number> =>
    (await ofThePod()).filter((entry) => !isLease(entry) && !isOpenWatch(entry)).length;
  await eventually(
    async () => {
      const before = await count();
      await new Promise((resolve) => setTimeout(resolve, 12_000));
      expect(await count()).toBe(before);
    },
    { withinMs: 90_000 },
  );
});

it("the upgrade guide's commands keep the settings, and the mesh is as it was", async () => {
  await person.types(upgrade);
  expect(await person.types(lookAtValues)).toContain(health);
  const before = [await peerNamesIn(local), await peerNamesIn(remote)];
  await person.types(goBack);
  expect([await peerNamesIn(local), await peerNamesIn(remote)]).toEqual(before);
});

it("the uninstall guide leaves no Peer and nothing of the operator behind", async () => {
  expect(await person.types(withdraw)).toContain("No resources found");
  expect(await peerNamesIn(local)).toEqual([]);
  await person.types(uninstall);
  await pod.child.stop();
  await person.types(removeRest);
  await person.types(revoke);
  const left = await person.types(
    `kubectl get all,roles,rolebindings,serviceaccounts,secrets,leases -n ${namespace} -o name; kubectl get crd -o name
    kubectl get clusterroles,clusterrolebindings -o name | grep -i -e ${release} -e clustermesh || true
    kubectl --kubeconfig "$REMOTE" get clusterroles,clusterrolebindings -o name | grep clustermesh || true`,
  );
  expect(left.trim().split("\n")).toEqual([
    "serviceaccount/default",
    "customresourcedefinition.apiextensions.k8s.io/peers.kilo.squat.ai",
  ]);
});
