import { afterAll, beforeAll, expect, it } from "vitest";
import { clusterMeshCrd } from "../../src/api/crd.ts";
import { eventually } from "../../test/support/eventually.ts";
import { type ControlPlane, startControlPlane } from "../control-plane/control-plane.ts";
import { createCrd } from "../control-plane/create-crd.ts";
import type { RealCluster } from "../control-plane/real-cluster.ts";
import { buildBundle, byOperator, furnish, namespace } from "../operator/real-mesh.ts";
import { type RunningPod, startBundle } from "./pod.ts";
import { brokenPromises, createMesh } from "./promises.ts";
import { containerOf, render, the } from "./render.ts";

let plane: ControlPlane;
let local: RealCluster;
let remote: RealCluster;
let pod: RunningPod | undefined;

beforeAll(async () => {
  await buildBundle();
  plane = await startControlPlane({ clusters: 2, audit: true });
  [local, remote] = plane.clusters as [RealCluster, RealCluster];
  await furnish(plane, 2);
}, 120_000);
afterAll(async () => {
  await pod?.child.stop();
  await plane?.stop();
});

it("where somebody else installs the definition, the operator waits for it, without any right on definitions", async () => {
  const values = { kubeconfigAllow: ["loopback"], metricsBindAddress: "0", healthProbeBindAddress: "0" };
  const objects = await render({ ...values, crd: { install: "none" } });
  const rules = {
    clusterRoleRules: the(objects, "ClusterRole").rules ?? [],
    roleRules: the(objects, "Role").rules ?? [],
  };
  const kubeconfig = await local.scopedKubeconfig({ name: "operator", namespace, ...rules });
  pod = await startBundle({ folder: plane.directory, kubeconfig, args: containerOf(objects).args });
  await eventually(() => expect(pod?.log()).toContain("definition missing"));
  expect(pod.log()).toContain("crd/clustermeshes.yaml");
  await createCrd(local.admin, clusterMeshCrd() as never);
  await eventually(async () => {
    await createMesh(local);
    expect(await brokenPromises(local, remote)).toEqual([]);
  });
  const asked = (await local.audit()).filter(byOperator);
  expect(asked.filter(({ resource }) => resource === "customresourcedefinitions")).toEqual([]);
  expect(asked.filter(({ code }) => code === 403)).toEqual([]);
});
