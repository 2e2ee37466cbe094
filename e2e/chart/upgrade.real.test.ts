import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { clusterMeshCrd } from "../../src/api/crd.ts";
import { leaseName } from "../../src/api/names.ts";
import { type ControlPlane, startControlPlane } from "../control-plane/control-plane.ts";
import { helm, kubectl, type ToolResult } from "../control-plane/kubectl.ts";
import type { RealCluster } from "../control-plane/real-cluster.ts";
import { goObjects, writeGoChart } from "./go-release.ts";
import { chart, containerOf, namespace, objectsIn, type Rendered, release, render, template, the } from "./render.ts";

const everything = {
  replicaCount: 2,
  metricsSecure: true,
  metricsCertSecret: "metrics-tls",
  networkPolicy: { enabled: true },
  crd: { install: "chart" },
  secretNamespaces: ["default"],
  nodeKeepalive: { enabled: true, seconds: 25 },
};
const sharedKinds = ["ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Deployment"];
const namesOf = (objects: readonly Rendered[]): string[] =>
  objects
    .filter(({ kind = "" }) => sharedKinds.includes(kind))
    .map(({ kind, metadata }) => `${kind} ${metadata.name}`)
    .sort();

it("the chart and the Go operator's have the same names and the same selector", async () => {
  const ours = await render();
  expect(namesOf(ours)).toEqual(namesOf(goObjects));
  expect(the(ours, "Deployment").spec?.selector).toEqual(the(goObjects, "Deployment").spec?.selector);
  expect(containerOf(ours).name).toBe(containerOf(goObjects).name);
  expect(containerOf(ours).args).toEqual(containerOf(goObjects).args);
  expect(containerOf(ours).env).toEqual(containerOf(goObjects).env);
  expect(the(ours, "Role").rules?.flatMap(({ resourceNames }) => resourceNames ?? [])).toEqual([leaseName]);
});

describe.each(["oldest", "newest"] as const)("on a real API server, the %s", (version) => {
  let plane: ControlPlane;
  let cluster: RealCluster;
  let tool: { readonly kubeconfigFile: string };

  const file = (name: string, text: string): string => {
    const path = join(plane.directory, name);
    writeFileSync(path, text);
    return path;
  };
  const done = async (result: Promise<ToolResult>): Promise<string> => {
    const { code, stdout, stderr } = await result;
    expect(stderr.replace(/^WARNING.*\n/gm, ""), stdout).not.toMatch(/error|Warning/i);
    expect(code).toBe(0);
    return stdout;
  };
  const inNamespace = (words: readonly string[]) => helm([...words, "--namespace", namespace], tool);
  const upgrade = (...words: string[]) => inNamespace(["upgrade", release, chart, ...words]);
  const live = async (): Promise<Rendered[]> => {
    const kinds = [...sharedKinds, "Role", "RoleBinding", "Service"].join(",");
    const selector = `app.kubernetes.io/instance=${release}`;
    const text = await done(kubectl(["get", kinds, "-n", namespace, "-l", selector, "-o", "json"], tool));
    return (JSON.parse(text) as { items: Rendered[] }).items;
  };
  const uids = async (): Promise<Record<string, string>> =>
    Object.fromEntries(
      (await live())
        .filter(({ kind = "" }) => sharedKinds.includes(kind))
        .map(({ kind, metadata }) => [kind ?? "", metadata.uid ?? ""]),
    );

  beforeAll(async () => {
    plane = await startControlPlane({ clusters: 1, version });
    [cluster] = plane.clusters as [RealCluster];
    tool = { kubeconfigFile: cluster.kubeconfigFile };
    await cluster.requestJson({ method: "POST", path: "/api/v1/namespaces", body: { metadata: { name: namespace } } });
  });

  afterAll(async () => {
    await plane?.stop();
  });

  it.each([
    ["by default", {}],
    ["with everything on", everything],
    [
      "without leader election, metrics and probes",
      { leaderElect: false, metricsBindAddress: "0", healthProbeBindAddress: "0" },
    ],
  ])("every object of the chart is accepted %s", async (_, values) => {
    const manifest = file("rendered.yaml", (await template(values)).stdout);
    const said = await done(kubectl(["apply", "--dry-run=server", "--filename", manifest], tool));
    expect(said.trim().split("\n")).toHaveLength((await render(values)).length);
  });

  it("the rights of a remote cluster are accepted", async () => {
    await done(kubectl(["apply", "--dry-run=server", "--filename", "deploy/remote/rbac.yaml"], tool));
  });

  it("the chart can be applied over the Go operator's objects", async () => {
    const go = file("go.yaml", goObjects.map((object) => stringify(object)).join("---\n"));
    await done(kubectl(["apply", "--filename", go], tool));
    const before = await uids();
    await done(kubectl(["apply", "--filename", file("ours.yaml", (await template()).stdout)], tool));
    expect(await uids()).toEqual(before);
    await done(kubectl(["delete", "--filename", file("ours.yaml", (await template()).stdout)], tool));
  });

  it("the Go operator's release is upgraded in place, and can be rolled back", async () => {
    await done(
      inNamespace(["install", release, writeGoChart(plane.directory), "--set", "tolerations[0].operator=Exists"]),
    );
    const before = await uids();
    await done(upgrade("--reset-then-reuse-values"));
    expect(await uids()).toEqual(before);
    const upgraded = await live();
    expect(containerOf(upgraded).image).toMatch(/kilo-clustermesh:0\.1\.0$/);
    expect(the(upgraded, "Deployment").spec?.template.spec.tolerations).toEqual([{ operator: "Exists" }]);
    expect(the(upgraded, "Role").metadata.namespace).toBe(namespace);
    await done(inNamespace(["rollback", release]));
    expect(await uids()).toEqual(before);
    const back = await live();
    expect(containerOf(back)).toMatchObject({ image: containerOf(goObjects).image });
    expect(containerOf(back).livenessProbe).toBeUndefined();
    expect(the(back, "ClusterRole").rules).toEqual(the(goObjects, "ClusterRole").rules);
  });

  it("an upgrade that would keep the Go operator's defaults is refused, and says what to type", async () => {
    const { code, stderr } = await upgrade("--reuse-values");
    expect(code).not.toBe(0);
    expect(stderr).toContain("--reset-then-reuse-values");
    expect(containerOf(await live()).image).toBe(containerOf(goObjects).image);
  });

  it("leader election can be turned off and on again in a running release", async () => {
    const strategy = async () => the(await live(), "Deployment").spec?.strategy?.type;
    await done(upgrade("--reset-then-reuse-values", "--set", "leaderElect=false"));
    expect(await strategy()).toBe("Recreate");
    await done(upgrade("--reset-then-reuse-values", "--set", "leaderElect=true"));
    expect(await strategy()).toBe("RollingUpdate");
  });

  it("a definition that the operator installed is taken over when asked, and outlives the release", async () => {
    const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    await cluster.requestJson({ method: "POST", path, body: clusterMeshCrd() });
    const words = ["--reset-then-reuse-values", "--set", "crd.install=chart"];
    expect((await upgrade(...words)).stderr).toContain("cannot be imported into the current release");
    await done(upgrade(...words, "--take-ownership"));
    await done(inNamespace(["uninstall", release]));
    expect(await live()).toEqual([]);
    const { status } = await cluster.request({ path: `${path}/${clusterMeshCrd().metadata.name}` });
    expect(status).toBe(200);
  });

  it("a new release says the next two commands", async () => {
    const said = await done(inNamespace(["install", "mesh", chart]));
    const notes = said.slice(said.indexOf("NOTES:"));
    expect(notes.match(/^ {2}kubectl .*$/gm)).toEqual([
      `  kubectl --namespace ${namespace} rollout status deployment/mesh-${release}`,
      expect.stringContaining("  kubectl apply --filename mesh.yaml"),
    ]);
    expect(objectsIn(await done(inNamespace(["get", "manifest", "mesh"]))).length).toBeGreaterThan(5);
  });
});
