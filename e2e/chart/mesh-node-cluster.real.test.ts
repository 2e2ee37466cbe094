import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { guideBlocks, sidecarFile } from "../../test/support/mesh-node-manifests.ts";
import { type ControlPlane, startControlPlane } from "../control-plane/control-plane.ts";
import { kubectl, type ToolResult } from "../control-plane/kubectl.ts";
import type { RealCluster } from "../control-plane/real-cluster.ts";
import { render, template } from "./mesh-node-render.ts";
import { type Container, objectsIn, type Rendered, the, type Values } from "./render.ts";

const key = Buffer.alloc(32, 7).toString("base64");
const everything = {
  replicas: 3,
  appId: "a formation: one",
  nodeId: "",
  peers: [`${"a".repeat(64)}@peer.example:11204`],
  sharedKey: { value: key },
  discovery: { mode: "kubernetes", namespace: "shop", labelSelector: "app=peat-node,formation=red", publish: true },
  service: { enabled: true },
  networkPolicy: { enabled: true, apiFrom: [{ podSelector: {} }] },
};

/** Pods of this namespace must be as the standard `restricted` has them. */
const restricted = {
  "pod-security.kubernetes.io/enforce": "restricted",
  "pod-security.kubernetes.io/warn": "restricted",
};

describe.each(["oldest", "newest"] as const)("on a real API server, the %s,", (version) => {
  let plane: ControlPlane;
  let cluster: RealCluster;

  beforeAll(async () => {
    plane = await startControlPlane({ clusters: 1, version });
    [cluster] = plane.clusters as [RealCluster];
    for (const [name, labels] of Object.entries({ mesh: restricted, shop: {} }))
      await cluster.requestJson({
        method: "POST",
        path: "/api/v1/namespaces",
        body: { metadata: { name, labels } },
      });
  });
  afterAll(() => plane?.stop());

  async function dryRun(manifest: string): Promise<ToolResult> {
    const file = join(plane.directory, "manifest.yaml");
    writeFileSync(file, manifest);
    const words = ["apply", "--dry-run=server", "--validate=strict", "--filename", file];
    return kubectl(words, { kubeconfigFile: cluster.kubeconfigFile });
  }

  /** What kubectl says of every object of a manifest; a warning of the server fails the test. */
  async function accepted(manifest: string): Promise<string[]> {
    const { code, stdout, stderr } = await dryRun(manifest);
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });
    return stdout.trim().split("\n");
  }

  it.each<[string, Values]>([
    ["by default", {}],
    ["in mode kubernetes", { discovery: { mode: "kubernetes" } }],
    ["with everything on", everything],
    ["as a StatefulSet", { ...everything, kind: "StatefulSet", fullnameOverride: "n".repeat(52) }],
    ["on a Unix socket, with any UDP port", { listen: "unix:///run/mesh-node/api.sock", irohUdpPort: 0 }],
    ["on 127.0.0.1", { listen: "tcp://127.0.0.1:50051" }],
  ])("every object of mesh-node's chart is accepted %s, and its pod is a restricted one", async (_, values) => {
    const objects = await render(values);
    expect(await accepted((await template(values)).stdout)).toHaveLength(objects.length);
    const workload = objects.find(({ kind = "" }) => ["Deployment", "StatefulSet"].includes(kind));
    expect(await accepted(podOf(workload))).toHaveLength(1);
  });

  it("a node on the network of the machine is accepted where that is allowed", async () => {
    const values = { hostNetwork: true, discovery: { mode: "mdns" } };
    await accepted((await template(values, { namespace: "shop" })).stdout);
    const { stderr } = await dryRun(podOf(the(await render(values), "Deployment")));
    expect(stderr).toContain('violates PodSecurity "restricted');
  });

  it("the manifests of the guide are accepted", async () => {
    expect(await accepted(guideBlocks("yaml")[0] ?? "")).toHaveLength(6);
  });

  it("the sidecar example is accepted, before 1.29 only as a container beside the others", async () => {
    const text = readFileSync(sidecarFile, "utf8");
    const moved = objectsIn(text).map(withoutInitContainers);
    if (version === "newest") expect(await accepted(text)).toHaveLength(5);
    else expect((await dryRun(text)).stderr).toContain("spec.template.spec.initContainers[0]");
    expect(await accepted(moved.map((object) => stringify(object)).join("---\n"))).toHaveLength(5);
  });
});

/** The pod of a workload as a manifest. A claim needs no volume here. */
function podOf(workload: Rendered | undefined): string {
  const { metadata, spec } = workload?.spec?.template ?? {};
  const claimed = workload?.kind === "StatefulSet" ? [{ name: "mesh-node-data", emptyDir: {} }] : [];
  return stringify({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { ...metadata, name: "pod-a", namespace: "mesh" },
    spec: {
      ...spec,
      // The server knows the ServiceAccount only after a release was installed.
      serviceAccountName: "default",
      volumes: [...((spec?.volumes as readonly object[] | undefined) ?? []), ...claimed],
    },
  });
}

function withoutInitContainers(object: Rendered): Rendered {
  if (object.kind !== "Deployment" || !object.spec) return object;
  const { initContainers, containers, ...pod } = object.spec.template.spec;
  const moved = (initContainers as Container[]).map(({ restartPolicy: _, ...container }) => container as Container);
  const spec = { ...pod, containers: [...containers, ...moved] } as typeof object.spec.template.spec;
  return { ...object, spec: { ...object.spec, template: { ...object.spec.template, spec } } };
}
