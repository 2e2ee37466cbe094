import { describe, expect, it } from "vitest";
import { containerOf, namespace, ofKind, release, render, rulesFor, the } from "./render.ts";

const kilo = "kilo.squat.ai";
const [read, coreGroup] = [["list", "watch"], ""];

describe("the rights of the chart", () => {
  it("let the operator read nodes, and change them only for a node keepalive", async () => {
    const [rule] = rulesFor(await render(), "nodes", coreGroup);
    expect(rule?.verbs).toEqual(read);
    const [more] = rulesFor(await render({ nodeKeepalive: { enabled: true } }), "nodes", coreGroup);
    expect(more?.verbs).toEqual([...read, "patch"]);
  });

  it.each([
    ["clustermeshes", [...read, "patch"]],
    ["clustermeshes/status", ["patch"]],
    ["peers", [...read, "create", "update", "delete"]],
  ])("let the operator use %s", async (resource, verbs) => {
    const objects = await render();
    expect(rulesFor(objects, resource, kilo).map((rule) => rule.verbs)).toEqual([verbs]);
    expect(the(objects, "ClusterRole").rules).toContainEqual({ apiGroups: [kilo], resources: [resource], verbs });
  });

  it("let the operator do nothing to clustermeshes/finalizers, which only owner references need", async () => {
    expect(rulesFor(await render(), "clustermeshes/finalizers", kilo)).toEqual([]);
  });

  it("let the operator read secrets in all namespaces by default", async () => {
    const objects = await render();
    expect(the(objects, "ClusterRole").rules).toContainEqual({
      apiGroups: [""],
      resources: ["secrets"],
      verbs: read,
    });
  });

  it("let the operator read secrets only in the namespaces that are said, and only those of the said names", async () => {
    const objects = await render({ secretNamespaces: ["one", "two"], secretNames: ["b-kubeconfig"] });
    expect(rulesFor(ofKind(objects, "ClusterRole"), "secrets", coreGroup)).toEqual([]);
    const roles = ofKind(objects, "Role").filter(({ metadata }) => metadata.name.endsWith("-secrets"));
    expect(roles.map(({ metadata }) => metadata.namespace)).toEqual(["one", "two"]);
    for (const { rules } of roles)
      expect(rules).toEqual([
        { apiGroups: [""], resources: ["secrets"], resourceNames: ["b-kubeconfig"], verbs: read },
      ]);
    const bindings = ofKind(objects, "RoleBinding").filter(({ roleRef }) => roleRef?.name.endsWith("-secrets"));
    expect(bindings.map(({ metadata }) => metadata.namespace)).toEqual(["one", "two"]);
    for (const { subjects } of bindings)
      expect(subjects).toEqual([{ kind: "ServiceAccount", name: release, namespace }]);
  });

  it("let the operator write events of events.k8s.io, and none of the core group, which it does not use", async () => {
    const objects = await render();
    expect(rulesFor(objects, "events", "events.k8s.io").map(({ verbs }) => verbs)).toEqual([["create", "patch"]]);
    expect(rulesFor(objects, "events", coreGroup)).toEqual([]);
  });

  it("let the operator install its own definition, and not even read it where another installs it", async () => {
    const own = { resourceNames: ["clustermeshes.kilo.squat.ai"] };
    const rulesWith = async (install: string) =>
      rulesFor(await render({ crd: { install } }), "customresourcedefinitions", "apiextensions.k8s.io");
    expect(await rulesWith("operator")).toMatchObject([{ ...own, verbs: ["get", "update"] }, { verbs: ["create"] }]);
    for (const install of ["chart", "none"]) {
      expect(await rulesWith(install)).toEqual([]);
      expect(containerOf(await render({ crd: { install } })).args).toContain("--install-crd=false");
    }
    expect(containerOf(await render()).args.join()).not.toContain("--install-crd");
  });

  it("let the operator use leases in its own namespace alone, and none without leader election", async () => {
    const objects = await render();
    const role = the(objects, "Role");
    expect(role.metadata.namespace).toBe(namespace);
    expect(role.rules).toEqual(rulesFor(objects, "leases", "coordination.k8s.io"));
    expect(role.rules).toMatchObject([
      { resourceNames: ["f27237f1.squat.ai"], verbs: ["get", "update"] },
      { verbs: ["create"] },
    ]);
    expect(rulesFor(await render({ leaderElect: false }), "leases", "coordination.k8s.io")).toEqual([]);
  });

  it("let the operator read the namespace kube-system, unless its instance is named", async () => {
    const [rule] = rulesFor(await render(), "namespaces", coreGroup);
    expect(rule).toMatchObject({ resourceNames: ["kube-system"], verbs: ["get"] });
    expect(rulesFor(await render({ instance: "east" }), "namespaces", coreGroup)).toEqual([]);
  });

  it("are bound to the ServiceAccount of the release, or to the one that is named", async () => {
    for (const [name, values] of [
      [release, {}],
      ["mesh", { serviceAccount: { create: false, name: "mesh" } }],
    ] as const) {
      const objects = await render(values);
      const binding = the(objects, "ClusterRoleBinding");
      expect(binding.subjects).toEqual([{ kind: "ServiceAccount", name, namespace }]);
      expect(binding.roleRef).toMatchObject({ kind: "ClusterRole", name: the(objects, "ClusterRole").metadata.name });
      expect(the(objects, "RoleBinding").subjects).toEqual(binding.subjects);
    }
  });
});

describe("the ServiceAccount of the chart", () => {
  it("is made, or not when another is used", async () => {
    expect(ofKind(await render(), "ServiceAccount")).toHaveLength(1);
    expect(ofKind(await render({ serviceAccount: { create: false } }), "ServiceAccount")).toEqual([]);
  });

  it("gives its token to the pod", async () => {
    expect(the(await render(), "ServiceAccount").automountServiceAccountToken).not.toBe(false);
  });

  it("has the release's full name, or the one that is said", async () => {
    expect(the(await render(), "ServiceAccount").metadata.name).toBe(release);
    expect(the(await render({}, { release: "mesh" }), "ServiceAccount").metadata.name).toBe(`mesh-${release}`);
    expect(the(await render({ serviceAccount: { name: "mine" } }), "ServiceAccount").metadata.name).toBe("mine");
  });

  it("has the annotations that are said, and the chart's labels", async () => {
    const { metadata } = the(await render({ serviceAccount: { annotations: { role: "net" } } }), "ServiceAccount");
    expect(metadata.annotations).toEqual({ role: "net" });
    expect(metadata.labels).toEqual({
      "helm.sh/chart": "kilo-clustermesh-operator-0.2.0",
      "app.kubernetes.io/name": release,
      "app.kubernetes.io/instance": release,
      "app.kubernetes.io/version": "0.1.0",
      "app.kubernetes.io/managed-by": "Helm",
    });
  });
});
