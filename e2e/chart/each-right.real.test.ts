import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clusterMeshCrd } from "../../src/api/crd.ts";
import { type ControlPlane, startControlPlane } from "../control-plane/control-plane.ts";
import { createCrd } from "../control-plane/create-crd.ts";
import type { RealCluster } from "../control-plane/real-cluster.ts";
import type { PolicyRule } from "../control-plane/scoped-access.ts";
import { buildBundle, byOperator, furnish, namespace } from "../operator/real-mesh.ts";
import { startBundle } from "./pod.ts";
import { brokenPromises, createMesh, forgetOperator } from "./promises.ts";
import { containerOf, objectsIn, render, rulesFor, the } from "./render.ts";

interface Right {
  readonly where: "cluster" | "namespace" | "remote";
  readonly rule: PolicyRule;
}

const values = { kubeconfigAllow: ["loopback"], metricsBindAddress: "0", healthProbeBindAddress: "0" };
const chartObjects = await render(values);
const remoteObjects = objectsIn(readFileSync("deploy/remote/rbac.yaml", "utf8"));
const rights: readonly Right[] = [
  ...(the(chartObjects, "ClusterRole").rules ?? []).map((rule) => ({ where: "cluster" as const, rule })),
  ...(the(chartObjects, "Role").rules ?? []).map((rule) => ({ where: "namespace" as const, rule })),
  ...(the(remoteObjects, "ClusterRole").rules ?? []).map((rule) => ({ where: "remote" as const, rule })),
];
const nameOf = ({ where, rule }: Right): string => `${where}: ${rule.resources} ${rule.verbs.join(", ")}`;

/** Only an operator that sets owner references would use it. */
const unused = "cluster: clustermeshes/finalizers update";
const needed = rights.map(nameOf).filter((name) => name !== unused);
const crdGroup = "apiextensions.k8s.io";

let plane: ControlPlane;
let local: RealCluster;
let remote: RealCluster;
let started = 0;
const table: string[] = [];

beforeAll(async () => {
  await buildBundle();
  plane = await startControlPlane({ clusters: 2, audit: true });
  [local, remote] = plane.clusters as [RealCluster, RealCluster];
  await furnish(plane, 2);
}, 120_000);

afterAll(async () => {
  console.log(table.join("\n"));
  await plane?.stop();
});

const rulesOf = (granted: readonly Right[], where: Right["where"]): PolicyRule[] =>
  granted.filter((right) => right.where === where).map(({ rule }) => rule);

/** The name is new each time, so that no right is remembered from before. */
async function accountWith(granted: readonly Right[]): Promise<{ name: string; kubeconfig: string }> {
  const name = `operator-${++started}`;
  const there = await remote.scopedKubeconfig({ name, clusterRoleRules: rulesOf(granted, "remote") });
  const path = `/api/v1/namespaces/${namespace}/secrets/cluster-b-kubeconfig`;
  const body = { stringData: { kubeconfig: there } };
  await local.requestJson({ method: "PATCH", path, contentType: "application/merge-patch+json", body });
  const [clusterRoleRules, roleRules] = [rulesOf(granted, "cluster"), rulesOf(granted, "namespace")];
  const kubeconfig = await local.scopedKubeconfig({ name, namespace, clusterRoleRules, roleRules });
  return { name, kubeconfig };
}

async function wasRefused(name: string): Promise<boolean> {
  const logs = await Promise.all([local.audit(), remote.audit()]);
  return logs.flat().some((entry) => byOperator(entry) && entry.code === 403 && entry.user.endsWith(`:${name}`));
}

/** Runs the operator with these rights: until all is well, or some time after its first refusal. */
async function brokenWith(granted: readonly Right[], prepare?: () => Promise<void>): Promise<string[]> {
  await forgetOperator(local, remote);
  await prepare?.();
  const { name, kubeconfig } = await accountWith(granted);
  const pod = await startBundle({ folder: plane.directory, kubeconfig, args: containerOf(chartObjects).args });
  try {
    let refusedMs: number | undefined;
    for (const startMs = performance.now(); performance.now() - startMs < 45_000; await sleep(200)) {
      await createMesh(local);
      const broken = await brokenPromises(local, remote);
      if (broken.length === 0) return [];
      if (refusedMs === undefined && (await wasRefused(name))) refusedMs = performance.now();
      if (refusedMs !== undefined && performance.now() - refusedMs > 6_000) return broken;
    }
    return await brokenPromises(local, remote);
  } finally {
    await pod.child.stop();
  }
}

async function brokenWithout(name: string): Promise<string[]> {
  const broken = await brokenWith(rights.filter((right) => nameOf(right) !== name));
  table.push(`without ${name}: ${broken.join("; ") || "nothing is missing"}`);
  return broken;
}

describe("the rights that the chart and a remote cluster grant", () => {
  it("are enough for everything the operator does for a mesh", async () => {
    expect(await brokenWith(rights)).toEqual([]);
  });

  it.each(needed)("without %s something is missing", async (name) => {
    expect(await brokenWithout(name)).not.toEqual([]);
  });

  it(`without ${unused} nothing is missing: it is there because the Go operator's role has it`, async () => {
    expect(await brokenWithout(unused)).toEqual([]);
  });

  it("may leave out to install the definition where somebody else installs it", async () => {
    const installed = () => createCrd(local.admin, clusterMeshCrd() as never);
    const others = rights.filter(({ rule }) => !rule.resources?.includes("customresourcedefinitions"));
    const [readIt] = rulesFor(await render({ crd: { install: "none" } }), "customresourcedefinitions", crdGroup);
    if (!readIt) throw new Error("no rule");
    expect(await brokenWith([...others, { where: "cluster", rule: readIt }], installed)).toEqual([]);
  });
});
