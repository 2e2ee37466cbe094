import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { configOf, guideBlocks, sidecarFile } from "../../test/support/mesh-node-manifests.ts";
import { lint, nodeIn, refusal, render, renderGuidesParent, template } from "./mesh-node-render.ts";
import { objectsIn, ofKind, type Rendered, the, type Values } from "./render.ts";

const kubernetes = { discovery: { mode: "kubernetes" } };
const key = Buffer.alloc(32, 7).toString("base64");
const kindsOf = async (values: Values = {}): Promise<string[]> =>
  (await render(values)).map(({ kind }) => kind ?? "").sort();
const argsOf = async (values: Values = {}): Promise<readonly string[]> => nodeIn(await render(values)).args;

interface Service extends Rendered {
  readonly spec: never;
}

function serviceIn(objects: readonly Rendered[], name: string): Service {
  const [found] = ofKind(objects, "Service").filter(({ metadata }) => metadata.name === name);
  if (!found) throw new Error(`no Service ${name}`);
  return found as Service;
}

describe("mesh-node's chart", () => {
  it("passes Helm's strict lint", async () => {
    const { stdout, code } = await lint();
    expect(code, stdout).toBe(0);
  });

  it("makes no ServiceAccount and no right where nodes do not look into the cluster, and gives them no token", async () => {
    for (const mode of ["none", "mdns"]) {
      const objects = await render({ discovery: { mode } });
      expect(objects.map(({ kind }) => kind).sort()).toEqual(["Deployment", "Service"]);
      expect(the(objects, "Deployment").spec?.template.spec).toMatchObject({
        serviceAccountName: "default",
        automountServiceAccountToken: false,
      });
    }
  });

  it("makes ServiceAccount, Role, RoleBinding, headless Service and Deployment in mode kubernetes", async () => {
    expect(await kindsOf(kubernetes)).toEqual(["Deployment", "Role", "RoleBinding", "Service", "ServiceAccount"]);
  });

  it("lets the nodes read EndpointSlices of their namespace, and nothing else", async () => {
    const objects = await render(kubernetes);
    const rule = { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["get", "list", "watch"] };
    expect(the(objects, "Role")).toMatchObject({ metadata: { namespace: "mesh" }, rules: [rule] });
    expect(the(objects, "Role").rules).toEqual([rule]);
    expect(the(objects, "RoleBinding")).toMatchObject({
      metadata: { namespace: "mesh" },
      roleRef: { kind: "Role", name: "mesh-node" },
      subjects: [{ kind: "ServiceAccount", name: "mesh-node", namespace: "mesh" }],
    });
    expect(the(objects, "Deployment").spec?.template.spec).toMatchObject({
      serviceAccountName: the(objects, "ServiceAccount").metadata.name,
      automountServiceAccountToken: true,
    });
  });

  it("adds patch, and the flag that uses it, only for publishing", async () => {
    const publishing = await render({ discovery: { mode: "kubernetes", publish: true } });
    expect(the(publishing, "Role").rules?.[0]?.verbs).toEqual(["get", "list", "watch", "patch"]);
    expect(nodeIn(publishing).args).toContain("--discovery-publish-id=true");
    expect(nodeIn(publishing).args).toContain("--shared-key-file=/mesh-node-key/shared-key");
    expect((await argsOf(kubernetes)).join()).not.toContain("publish");
  });

  it("gives the right in the namespace where the slices are", async () => {
    const objects = await render({ discovery: { mode: "kubernetes", namespace: "other" } });
    for (const kind of ["Role", "RoleBinding"]) expect(the(objects, kind).metadata.namespace).toBe("other");
    expect(the(objects, "RoleBinding").subjects?.[0]?.namespace).toBe("mesh");
    expect(nodeIn(objects).args).toContain("--discovery-namespace=other");
  });

  it("binds the right to a ServiceAccount that exists, when it is named", async () => {
    const objects = await render({ ...kubernetes, serviceAccount: { create: false, name: "shop" } });
    expect(ofKind(objects, "ServiceAccount")).toEqual([]);
    expect(the(objects, "RoleBinding").subjects?.[0]?.name).toBe("shop");
    expect(the(objects, "Deployment").spec?.template.spec.serviceAccountName).toBe("shop");
  });

  it("puts the label app=peat-node on workload, pod and Service", async () => {
    for (const kind of ["Deployment", "StatefulSet"]) {
      const objects = await render({ ...kubernetes, kind });
      expect(the(objects, kind).metadata.labels).toMatchObject({ app: "peat-node" });
      expect(the(objects, kind).spec?.template.metadata.labels).toMatchObject({ app: "peat-node" });
      expect(the(objects, "Service").metadata.labels).toMatchObject({ app: "peat-node" });
    }
  });

  it("passes every value to the node, which understands them", async () => {
    const peer = `${"a".repeat(64)}@peer.example:11204`;
    const args = await argsOf({
      listen: "tcp://[::]:9000",
      appId: "a: b #1",
      nodeId: "node: one",
      peers: [peer],
      irohUdpPort: 4433,
      dataDir: "/elsewhere",
      logLevel: "debug",
      extraArgs: ["--iroh-udp-host=10.0.0.1"],
      discovery: {
        mode: "kubernetes",
        namespace: "other",
        labelSelector: "app=peat-node, formation in (red, blue)",
        annotationPrefix: "example.org/",
        interval: 5,
        publish: true,
      },
    });
    expect(configOf(args)).toMatchObject({
      listen: { kind: "tcp", host: "::", port: 9000 },
      formationId: "a: b #1",
      nodeId: "node: one",
      peers: [{ addresses: [{ host: "peer.example", port: 11204 }] }],
      unreadablePeers: [],
      udp: { ip: "10.0.0.1", port: 4433 },
      dataDir: "/elsewhere",
      logLevel: "debug",
      discovery: {
        mode: "kubernetes",
        namespace: "other",
        labelSelector: "app=peat-node, formation in (red, blue)",
        annotationPrefix: "example.org/",
        intervalSeconds: 5,
        publishId: true,
      },
    });
  });

  it("passes nothing of discovery in mode none", async () => {
    const args = await argsOf({ discovery: { mode: "none", namespace: "other", interval: 5 } });
    expect(args.filter((word) => word.startsWith("--discovery"))).toEqual(["--discovery-mode=none"]);
    expect(configOf(args).discovery.mode).toBe("none");
  });

  it("tells every node the name of its pod", async () => {
    const fieldRef = { fieldPath: "metadata.name" };
    expect(nodeIn(await render()).env).toEqual([{ name: "POD_NAME", valueFrom: { fieldRef } }]);
  });

  it.each([
    [{ discovery: { mode: "kubernetes" }, irohUdpPort: 0 }, "needs a fixed irohUdpPort"],
    [{ discovery: { publish: true } }, "discovery.publish needs discovery.mode kubernetes"],
    [{ sharedKey: { value: key, existingSecret: "mine" } }, "not both"],
    [{ sharedKey: { existingSecret: "mine" }, openFormation: true }, "one of the two"],
    [{ discovery: { mode: "kubernetes" }, openFormation: true }, "needs discovery.publish"],
    [{ nodeId: "one", replicas: 2 }, "every replica"],
    [{ kind: "Sidecar" }, "sidecar.selector"],
    [{ service: { enabled: true }, listen: "tcp://127.0.0.1:50051" }, "service.enabled needs"],
    [{ discovery: { mode: "dns" } }, "discovery/mode"],
    [{ replicaCount: 2 }, "replicaCount"],
  ])("refuses %j and says why", async (values, why) => {
    expect(await refusal(values)).toContain(why);
  });

  it("refuses a key that is none without repeating it", async () => {
    for (const value of ["swordfish!", "swordfish", 7_001_001]) {
      const why = await refusal({ sharedKey: { value } });
      expect(why).toMatch(/not base64|want string/);
      expect(why).not.toMatch(/swordfish|7001001/);
    }
  });
});

describe("the Services of mesh-node's chart", () => {
  it("lead discovery to the UDP port of the pods, without an address of their own", async () => {
    const objects = await render(kubernetes);
    expect(serviceIn(objects, "mesh-node").spec).toEqual({
      clusterIP: "None",
      ipFamilyPolicy: "PreferDualStack",
      selector: the(objects, "Deployment").spec?.selector?.matchLabels,
      ports: [{ name: "iroh-quic", port: 11204, targetPort: 11204, protocol: "UDP" }],
    });
    expect(nodeIn(objects).ports).toContainEqual({ name: "iroh-quic", containerPort: 11204, protocol: "UDP" });
  });

  it.each([
    ["app=peat-node", {}],
    ["app=peat-node,formation=red", { formation: "red" }],
    [" app == peat-node , example.org/formation=red,!old, x!=y, z in (a,b)", { "example.org/formation": "red" }],
    ["app.kubernetes.io/name=mesh-node", {}],
    ["app=other", { app: "other" }],
  ])("are one that %j selects and one that it does not", async (labelSelector, more) => {
    const objects = await render({ discovery: { mode: "kubernetes", labelSelector }, service: { enabled: true } });
    const [headless, api] = ["mesh-node", "mesh-node-api"].map(
      (name) => serviceIn(objects, name).metadata.labels ?? {},
    );
    expect(headless).toMatchObject({ app: "peat-node", ...more });
    const equalities = [...labelSelector.matchAll(/(?:^|,)\s*([^\s!=,]+)\s*==?\s*([^\s,]+)/g)];
    expect(equalities.length).toBeGreaterThan(0);
    for (const [, name = "", value] of equalities) {
      expect(headless?.[name]).toBe(value);
      expect(api).not.toHaveProperty([name]);
    }
    expect(api).not.toHaveProperty("app");
  });

  it("have the labels and annotations that are said", async () => {
    const headlessService = { labels: { formation: "red" }, annotations: { one: "1" } };
    const { metadata } = the(await render({ headlessService }), "Service");
    expect(metadata).toMatchObject({ labels: { formation: "red", app: "peat-node" }, annotations: { one: "1" } });
  });

  it("are none where the UDP port is any", async () => {
    expect(await kindsOf({ irohUdpPort: 0 })).toEqual(["Deployment"]);
  });

  it("serve the API to others only when that is wanted", async () => {
    const objects = await render({ service: { enabled: true, type: "NodePort" }, listen: "tcp://0.0.0.0:9000" });
    expect(serviceIn(objects, "mesh-node-api").spec).toEqual({
      type: "NodePort",
      selector: the(objects, "Deployment").spec?.selector?.matchLabels,
      ports: [{ name: "api", port: 9000, targetPort: 9000, protocol: "TCP" }],
    });
  });
});

describe("the shared key", () => {
  it("becomes a Secret and a file, and appears nowhere else", async () => {
    const values = { ...kubernetes, sharedKey: { value: `${key}\n` } };
    const objects = await render(values);
    const { data } = the(objects, "Secret") as Rendered & { data: Record<string, string> };
    expect(Buffer.from(data["shared-key"] ?? "", "base64").toString()).toBe(key);
    expect(nodeIn(objects).args).toContain("--shared-key-file=/mesh-node-key/shared-key");
    expect(nodeIn(objects).volumeMounts).toContainEqual({
      name: "mesh-node-key",
      mountPath: "/mesh-node-key",
      readOnly: true,
    });
    const { stdout } = await template(values);
    expect(stdout).not.toContain(key);
  });

  it("that changes changes the pods, which read it once", async () => {
    const podWith = async (value: string) =>
      JSON.stringify(the(await render({ sharedKey: { value } }), "Deployment").spec?.template.metadata);
    expect(await podWith(key)).not.toBe(await podWith(Buffer.alloc(32, 8).toString("base64")));
  });

  it.each([
    ["a Secret of yours", { sharedKey: { existingSecret: "mine", key: "formation" } }, ["mine", "formation"]],
    ["a Secret that the pods wait for in mode kubernetes", kubernetes, ["mesh-node", "shared-key"]],
  ])("comes from %s, and the chart makes none", async (_, values, [secretName, entry]) => {
    const objects = await render(values);
    expect(ofKind(objects, "Secret")).toEqual([]);
    expect(the(objects, "Deployment").spec?.template.spec.volumes).toContainEqual({
      name: "mesh-node-key",
      secret: { secretName, items: [{ key: entry, path: "shared-key" }] },
    });
  });

  it.each([
    ["in mode none", {}],
    ["in an open formation", { openFormation: true, discovery: { mode: "kubernetes", publish: true } }],
  ])("may be absent %s", async (_, values) => {
    const objects = await render(values);
    expect(nodeIn(objects).args.join()).not.toContain("--shared-key");
    expect(JSON.stringify(objects)).not.toContain("mesh-node-key");
  });
});

describe("the guide to mesh nodes in Kubernetes", () => {
  const madeByHelm = /^(?:helm\.sh\/|app\.kubernetes\.io\/)/;

  /** Without what only Helm needs: its labels, the selector that is made of them, the mark of the key, the history. */
  function plain(object: Rendered): unknown {
    const copy = structuredClone(object) as unknown as Record<string, Record<string, unknown>>;
    const { metadata = {}, spec, data, stringData, ...rest } = copy;
    const { labels = {}, ...named } = metadata;
    const kept = Object.entries(labels as object).filter(([name]) => !madeByHelm.test(name));
    if (spec) {
      delete spec.revisionHistoryLimit;
      delete spec.selector;
      const pod = (spec.template as { metadata?: unknown } | undefined)?.metadata as
        | Record<string, unknown>
        | undefined;
      if (pod) {
        delete pod.annotations;
        pod.labels = Object.fromEntries(
          Object.entries(pod.labels as object).filter(([name]) => !madeByHelm.test(name)),
        );
      }
    }
    const entries = Object.keys(data ?? stringData ?? {});
    return { ...rest, metadata: { ...named, labels: Object.fromEntries(kept) }, spec, entries };
  }
  const byKind = (objects: readonly Rendered[]) => Object.fromEntries(objects.map((one) => [one.kind, plain(one)]));

  it("has the manifests that the chart makes", async () => {
    const values = { ...kubernetes, replicas: 3, sharedKey: { value: key }, podDisruptionBudget: { enabled: false } };
    const made = byKind(await render(values));
    expect(Object.keys(made)).toHaveLength(6);
    expect(byKind(objectsIn(guideBlocks("yaml")[0] ?? ""))).toEqual(made);
  });

  it("injects the sidecar into a chart of one's own, which makes what the sidecar example has", async () => {
    const made = await renderGuidesParent();
    expect(byKind(objectsIn(readFileSync(sidecarFile, "utf8")))).toEqual(byKind(made));
    const pod = the(made, "Deployment").spec?.template;
    expect(pod?.spec.initContainers).toMatchObject([{ name: "mesh-node", restartPolicy: "Always" }]);
    expect((the(made, "Service") as Service).spec).toMatchObject({ selector: pod?.metadata.labels });
  });
});
