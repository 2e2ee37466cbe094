import { copyFileSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { clusterMeshes } from "../../src/api/cluster-mesh.ts";
import type { PeerObject } from "../../src/api/kilo-peer.ts";
import type { ClusterMeshStatus } from "../../src/api/schema.ts";
import { objectPath } from "../../src/kube/resource.ts";
import { fleetNode, networksOf } from "../../src/sandbox/fleet.ts";
import { peerCrd } from "../../src/sandbox/kilo/peer-crd.ts";
import { eventually } from "../../test/support/eventually.ts";
import type { AuditEntry } from "../control-plane/audit.ts";
import type { ControlPlane } from "../control-plane/control-plane.ts";
import { createCrd } from "../control-plane/create-crd.ts";
import { kubectl } from "../control-plane/kubectl.ts";
import type { RealCluster } from "../control-plane/real-cluster.ts";
import { type Supervised, startSupervised } from "../control-plane/supervised.ts";
import { remoteRights } from "../stories/rights.ts";

/** The rights that the quick start gives the operator in a remote cluster, and no others. */
export const remoteRules = remoteRights();

export const namespace = "kilo-system";
export const letter = (number: number): string => `cluster-${String.fromCharCode(97 + number)}`;

/** Bundles the operator into an empty folder, as it is shipped: one file, no node_modules. */
export function bundleInto(folder: string): string {
  const file = join(folder, "operator.mjs");
  copyFileSync("dist/operator.mjs", file);
  return file;
}

export interface OperatorProcess {
  readonly child: Supervised;
  log(): string;
}

export interface OperatorStart {
  readonly plane: ControlPlane;
  readonly kubeconfigFile?: string;
  readonly args?: readonly string[];
}

/** Several operators share this machine. */
const anyPort = "--health-probe-bind-address=127.0.0.1:0";

/** Starts the bundle, alone in an empty folder, with nothing but Node. */
export async function startOperator({ plane, kubeconfigFile, args = [] }: OperatorStart): Promise<OperatorProcess> {
  const folder = mkdtempSync(join(plane.directory, "operator-"));
  const bundle = bundleInto(folder);
  const logFile = join(folder, "operator.log");
  const kubeconfig = kubeconfigFile ?? plane.clusters[0]?.kubeconfigFile ?? "";
  const child = await startSupervised({
    command: process.execPath,
    args: [bundle, "--kubeconfig", kubeconfig, "--kubeconfig-allow=loopback", anyPort, ...args],
    cwd: folder,
    logFile,
    graceMs: 10_000,
  });
  return { child, log: () => readFileSync(logFile, "utf8") };
}

/** Kilo's type and `nodes` nodes in every cluster; in the first the namespace and a Secret for each other cluster. */
export async function furnish(plane: ControlPlane, nodes: number): Promise<void> {
  const [local, ...remotes] = plane.clusters;
  if (!local) throw new Error("no cluster");
  await Promise.all(plane.clusters.map((cluster) => createCrd(cluster.admin, peerCrd() as never)));
  for (const [number, cluster] of plane.clusters.entries()) {
    for (let index = 0; index < nodes; index++) await addNode(cluster, number, index);
  }
  await local.requestJson({ method: "POST", path: "/api/v1/namespaces", body: { metadata: { name: namespace } } });
  for (const [index, remote] of remotes.entries()) {
    const text = await remote.scopedKubeconfig({ name: "clustermesh-reader", clusterRoleRules: remoteRules });
    await putSecret(local, `${letter(index + 1)}-kubeconfig`, text);
  }
}

export async function putSecret(local: RealCluster, name: string, kubeconfig: string): Promise<void> {
  const body = { metadata: { name }, stringData: { kubeconfig } };
  await local.requestJson({ method: "POST", path: `/api/v1/namespaces/${namespace}/secrets`, body });
}

export const nodeNameOf = (number: number, index: number): string => `${letter(number)}-${index + 1}`;

export async function addNode(cluster: RealCluster, number: number, index: number): Promise<void> {
  const { status, ...node } = fleetNode(number, index, nodeNameOf(number, index));
  await cluster.requestJson({ method: "POST", path: "/api/v1/nodes", body: node });
  await cluster.requestJson({
    method: "PATCH",
    path: `/api/v1/nodes/${node.metadata.name}/status`,
    contentType: "application/merge-patch+json",
    body: { status },
  });
}

/** The quick start's ClusterMesh for `count` clusters; with two it is the document's own text. */
export function quickStart(count: number): string {
  if (count === 2) return readFileSync("test/fixtures/quick-start.yaml", "utf8");
  const clusters = Array.from({ length: count }, (_, number) => ({
    name: letter(number),
    ...(number === 0
      ? { local: true }
      : { kubeconfigSecretRef: { name: `${letter(number)}-kubeconfig`, key: "kubeconfig" } }),
    ...networksOf(number),
  }));
  const metadata = { name: "my-mesh", namespace };
  return stringify({ apiVersion: "kilo.squat.ai/v1alpha1", kind: "ClusterMesh", metadata, spec: { clusters } });
}

/** Applies it as a person would. The operator must have made the type known before. */
export async function applyMesh(plane: ControlPlane, text: string): Promise<void> {
  const kubeconfigFile = plane.clusters[0]?.kubeconfigFile ?? "";
  const file = join(plane.directory, "mesh.yaml");
  writeFileSync(file, text);
  await eventually(async () => {
    const { code, stderr } = await kubectl(["apply", "-f", file], { kubeconfigFile });
    if (code !== 0) throw new Error(stderr);
  });
}

export async function peersIn(cluster: RealCluster): Promise<PeerObject[]> {
  const list = await cluster.requestJson<{ items: PeerObject[] }>({ path: "/apis/kilo.squat.ai/v1alpha1/peers" });
  return list.items;
}

export const peerNamesIn = async (cluster: RealCluster): Promise<string[]> =>
  (await peersIn(cluster)).map(({ metadata }) => metadata.name).sort();

export async function readyOf(local: RealCluster): Promise<string | undefined> {
  const path = objectPath(clusterMeshes, { namespace, name: "my-mesh" });
  const { status } = await local.requestJson<{ status?: ClusterMeshStatus }>({ path });
  return status?.conditions?.find(({ type }) => type === "Ready")?.status;
}

/** Builds the bundle once for a test file. */
export async function buildBundle(): Promise<void> {
  await import("../../scripts/build.ts");
}

const operatorAgent = "kilo-clustermesh-operator/";
const writes = new Set(["create", "update", "patch", "delete"]);

export const byOperator = ({ userAgent }: AuditEntry): boolean => userAgent.startsWith(operatorAgent);
export const isWrite = ({ verb }: AuditEntry): boolean => writes.has(verb);
export const isLease = ({ resource }: AuditEntry): boolean => resource === "leases";
export const isOpenWatch = ({ verb }: AuditEntry): boolean => verb === "watch";
