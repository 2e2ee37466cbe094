import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { clusterMeshCrd } from "../../src/api/crd.ts";
import { helm } from "../control-plane/kubectl.ts";
import { chart, podOf, refusal, release, render, template, the } from "./render.ts";

const kindsOf = async (values = {}): Promise<string[]> => (await render(values)).map(({ kind }) => kind ?? "").sort();

describe("the chart", () => {
  it("passes Helm's strict lint", async () => {
    const folder = mkdtempSync(join(tmpdir(), "chart-"));
    const { stdout, stderr, code } = await helm(["lint", "--strict", chart], { kubeconfigFile: join(folder, "none") });
    rmSync(folder, { recursive: true, force: true });
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });
  });

  it("makes nothing by default but what the Go operator's chart makes, the right to its Lease, and a Service", async () => {
    expect(await kindsOf()).toEqual([
      "ClusterRole",
      "ClusterRoleBinding",
      "Deployment",
      "Role",
      "RoleBinding",
      "Service",
      "ServiceAccount",
    ]);
  });

  it("names everything by the override", async () => {
    const objects = await render({ fullnameOverride: "mesh" });
    for (const { metadata } of objects) expect(metadata.name).toMatch(/^mesh(-metrics)?$/);
  });

  it.each([
    ["a value that does not exist", { replicas: 2 }, "replicas"],
    ["a misspelt licence", { kubeconfigAllow: ["loopbak"] }, "kubeconfigAllow"],
    ["an address without a port", { metricsBindAddress: "localhost" }, "metricsBindAddress"],
  ])("refuses %s and names it", async (_, values, named) => {
    expect(await refusal(values)).toContain(named);
  });

  it("works as a part of another chart", async () => {
    const folder = mkdtempSync(join(tmpdir(), "chart-"));
    try {
      const dependency = { name: release, version: "0.2.0" };
      const wrapper = { apiVersion: "v2", name: "wrapper", version: "0.0.0", dependencies: [dependency] };
      writeFileSync(join(folder, "Chart.yaml"), stringify(wrapper));
      cpSync(chart, join(folder, "charts", release), { recursive: true });
      const values = { global: { region: "east" }, [release]: { instance: "east", replicaCount: 2 } };
      const objects = await render(values, { chart: folder, release: "cozy" });
      expect(the(objects, "Deployment").spec?.replicas).toBe(2);
      expect(podOf(objects).containers[0]?.args).toContain("--instance=east");
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe("the Service of the chart", () => {
  it("leads to the metrics of the pods", async () => {
    const objects = await render({ metricsBindAddress: ":9090", service: { annotations: { scrape: "yes" } } });
    const service = the(objects, "Service");
    expect(service).toMatchObject({
      metadata: { annotations: { scrape: "yes" } },
      spec: {
        selector: the(objects, "Deployment").spec?.selector?.matchLabels,
        ports: [{ name: "metrics", port: 9090, targetPort: "metrics" }],
      },
    });
    expect(podOf(objects).containers[0]?.ports).toContainEqual({
      name: "metrics",
      containerPort: 9090,
      protocol: "TCP",
    });
  });

  it("is not made without metrics, or when it is not wanted", async () => {
    expect(await kindsOf({ metricsBindAddress: "0" })).not.toContain("Service");
    expect(await kindsOf({ service: { enabled: false } })).not.toContain("Service");
  });
});

describe("the optional objects of the chart", () => {
  it("make Prometheus scrape the Service, over TLS when the metrics are secure", async () => {
    const serviceMonitor = { enabled: true, interval: "30s", labels: { prometheus: "main" } };
    const plain = the(await render({ serviceMonitor }), "ServiceMonitor");
    expect(plain.metadata.labels).toMatchObject({ prometheus: "main" });
    expect(plain.spec).toMatchObject({ endpoints: [{ port: "metrics", path: "/metrics", interval: "30s" }] });
    const secure = the(
      await render({ serviceMonitor, metricsSecure: true, metricsCertSecret: "tls" }),
      "ServiceMonitor",
    );
    expect(secure.spec).toMatchObject({ endpoints: [{ scheme: "https", tlsConfig: { insecureSkipVerify: true } }] });
  });

  it("refuse a ServiceMonitor without a Service to scrape", async () => {
    expect(await refusal({ serviceMonitor: { enabled: true }, metricsBindAddress: "0" })).toContain(
      "metricsBindAddress",
    );
  });

  it("let in only probes and metrics, and metrics only from whom is said", async () => {
    const metricsFrom = [{ namespaceSelector: { matchLabels: { name: "monitoring" } } }];
    const policy = the(await render({ networkPolicy: { enabled: true, metricsFrom } }), "NetworkPolicy");
    expect(policy.spec).toMatchObject({
      policyTypes: ["Ingress"],
      ingress: [{ ports: [{ port: 8081 }] }, { ports: [{ port: 8080 }], from: metricsFrom }],
    });
  });

  it("keep one of several replicas through a drain, and do not block the drain of a single one", async () => {
    const budget = the(await render({ replicaCount: 2 }), "PodDisruptionBudget");
    expect(budget.spec).toMatchObject({ maxUnavailable: 1 });
    expect(await kindsOf()).not.toContain("PodDisruptionBudget");
    expect(await kindsOf({ replicaCount: 2, podDisruptionBudget: { enabled: false } })).not.toContain(
      "PodDisruptionBudget",
    );
  });

  it("hold the operator's own definition, which outlives the release, only when the chart installs it", async () => {
    const { apiVersion, spec, metadata } = the(await render({ crd: { install: "chart" } }), "CustomResourceDefinition");
    const wanted = clusterMeshCrd();
    expect({ apiVersion, spec }).toEqual({ apiVersion: wanted.apiVersion, spec: wanted.spec });
    expect(metadata).toMatchObject({
      name: wanted.metadata.name,
      annotations: { "helm.sh/resource-policy": "keep" },
    });
    expect(await kindsOf({ crd: { install: "none" } })).not.toContain("CustomResourceDefinition");
    expect((await template()).stdout).not.toContain("CustomResourceDefinition\n");
  });
});
