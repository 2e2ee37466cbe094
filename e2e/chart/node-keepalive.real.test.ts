import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { clusterMeshes } from "../../src/api/cluster-mesh.ts";
import { annotations as marks, nodeAnnotations } from "../../src/api/names.ts";
import type { ClusterMeshStatus } from "../../src/api/schema.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { objectPath } from "../../src/kube/resource.ts";
import { eventually } from "../../test/support/eventually.ts";
import { type ControlPlane, startControlPlane } from "../control-plane/control-plane.ts";
import { kubectl } from "../control-plane/kubectl.ts";
import type { RealCluster } from "../control-plane/real-cluster.ts";
import { applyMesh, buildBundle, furnish, namespace, quickStart } from "../operator/real-mesh.ts";
import { remoteRights } from "../stories/rights.ts";
import { type RunningPod, startBundle } from "./pod.ts";
import { containerOf, render, the } from "./render.ts";

const seconds = "25";
const persons = "7";

let plane: ControlPlane;
let pod: RunningPod | undefined;
/** Where the operator runs, one that keeps its nodes to itself, and one that does not. */
let local: RealCluster;
let closed: RealCluster;
let open: RealCluster;

beforeAll(async () => {
  await buildBundle();
  plane = await startControlPlane({ clusters: 3 });
  [local, closed, open] = plane.clusters as [RealCluster, RealCluster, RealCluster];
  await furnish(plane, 2);
  const remote = { name: "clustermesh-reader" };
  await closed.scopedKubeconfig({ ...remote, clusterRoleRules: remoteRights() });
  await open.scopedKubeconfig({ ...remote, clusterRoleRules: remoteRights({ nodeKeepalive: true }) });
  await kubectl(["annotate", "node", "cluster-a-1", `${nodeAnnotations.keepalive}=${persons}`], local);
  pod = await startChart({ nodeKeepalive: { enabled: true, seconds: Number(seconds) } });
  await applyMesh(plane, quickStart(3));
}, 120_000);
afterAll(async () => {
  await pod?.child.stop();
  await plane?.stop();
});

async function startChart(values: object): Promise<RunningPod> {
  const quiet = { kubeconfigAllow: ["loopback"], metricsBindAddress: "0", healthProbeBindAddress: "0" };
  const objects = await render({ ...quiet, ...values });
  const [clusterRoleRules = [], roleRules = []] = [the(objects, "ClusterRole").rules, the(objects, "Role").rules];
  const kubeconfig = await local.scopedKubeconfig({ name: "operator", namespace, clusterRoleRules, roleRules });
  return startBundle({ folder: plane.directory, kubeconfig, args: containerOf(objects).args });
}

/** The keepalive of each node of a cluster, and whether an operator put its name to it. */
async function keepalivesIn(cluster: RealCluster): Promise<string[]> {
  const { items } = await cluster.requestJson<{ items: KubeObject[] }>({ path: "/api/v1/nodes" });
  return items.map(({ metadata: { annotations = {} } }) => {
    const mark = annotations[marks.keepaliveMark];
    return [
      annotations[nodeAnnotations.keepalive] ?? "none",
      ...(mark ? [mark.replace(/^.+\//, "marked ")] : []),
    ].join();
  });
}

async function notesOf(index: number): Promise<readonly (readonly [string, readonly string[]])[]> {
  const path = objectPath(clusterMeshes, { namespace, name: "my-mesh" });
  const { status } = await local.requestJson<{ status?: ClusterMeshStatus }>({ path });
  return (status?.clusters?.[index]?.notes ?? []).map(({ reason, examples = [] }) => [reason, examples]);
}

const ours = `${seconds},marked ${seconds}`;

describe("with the chart's node keepalive, Kilo's annotation", () => {
  it("is set on the nodes of every cluster that grants it, never over a person's value", async () => {
    await eventually(async () => {
      expect(await keepalivesIn(local)).toEqual([persons, ours]);
      expect(await keepalivesIn(open)).toEqual([ours, ours]);
    });
  });

  it("is not set where the right is missing; the status has the command, and that does it", async () => {
    const command = `kubectl annotate nodes --all ${nodeAnnotations.keepalive}=${seconds}`;
    await eventually(async () => expect(await notesOf(1)).toEqual([["NodeKeepaliveMissing", [command]]]));
    expect(await keepalivesIn(closed)).toEqual(["none", "none"]);
    const { code, stderr } = await kubectl(command.split(" ").slice(1), closed);
    expect([code, stderr]).toEqual([0, ""]);
    await eventually(async () => expect(await notesOf(1)).toEqual([]));
    expect(await keepalivesIn(closed)).toEqual([seconds, seconds]);
  });

  it("is taken back when a cluster leaves its mesh, and when the mesh goes, and a person's value stays", async () => {
    const { spec, ...mesh } = parse(quickStart(3)) as { spec: { clusters: unknown[] } };
    await applyMesh(plane, stringify({ ...mesh, spec: { clusters: spec.clusters.slice(0, 2) } }));
    await eventually(async () => expect(await keepalivesIn(open)).toEqual(["none", "none"]));
    expect(await keepalivesIn(local)).toEqual([persons, ours]);
    await kubectl(["delete", "clustermesh", "my-mesh", "-n", namespace], local);
    await eventually(async () => expect(await keepalivesIn(local)).toEqual([persons, "none"]));
    expect(await keepalivesIn(closed)).toEqual([seconds, seconds]);
  });
});
