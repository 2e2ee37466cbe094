import { describe, expect, it } from "vitest";
import { nodeIn, render, template } from "./mesh-node-render.ts";
import { type Pod, type Rendered, the, type Values } from "./render.ts";

const kindsOf = async (values: Values = {}): Promise<string[]> =>
  (await render(values)).map(({ kind }) => kind ?? "").sort();
const specOf = (objects: readonly Rendered[], kind: string): Readonly<Record<string, unknown>> =>
  the(objects, kind).spec as unknown as Readonly<Record<string, unknown>>;
const podIn = (objects: readonly Rendered[], kind = "Deployment"): Pod => {
  const pod = the(objects, kind).spec?.template.spec;
  if (!pod) throw new Error(`the ${kind} has no pod`);
  return pod;
};

describe.each(["Deployment", "StatefulSet"])("the %s of mesh-node's chart", (kind) => {
  it("has as many replicas as said, of the image that is said", async () => {
    const objects = await render({ kind, replicas: 4, image: { repository: "registry.example/node", tag: "v9" } });
    expect(specOf(objects, kind)).toMatchObject({ replicas: 4 });
    expect(nodeIn(objects, kind).image).toBe("registry.example/node:v9");
    expect(nodeIn(await render({ kind }), kind).image).toMatch(/:0\.1\.0$/);
  });

  it("runs as a user who can gain nothing, on a root that is read-only", async () => {
    const objects = await render({ kind });
    expect(nodeIn(objects, kind).securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
      runAsUser: 65532,
      runAsGroup: 65532,
      capabilities: { drop: ["ALL"] },
      seccompProfile: { type: "RuntimeDefault" },
    });
    expect(podIn(objects, kind).securityContext).toMatchObject({
      runAsNonRoot: true,
      fsGroup: 65532,
      seccompProfile: { type: "RuntimeDefault" },
    });
  });

  it.each([
    ["nodeSelector", { disk: "fast" }],
    ["tolerations", [{ key: "control-plane", operator: "Exists" }]],
    ["affinity", { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } }],
    ["topologySpreadConstraints", [{ maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "ScheduleAnyway" }]],
    ["imagePullSecrets", [{ name: "pull" }]],
    ["priorityClassName", "high"],
    ["terminationGracePeriodSeconds", 5],
  ])("gives the pod the %s that is said", async (field, value) => {
    expect(podIn(await render({ kind, [field]: value }), kind)[field]).toEqual(value);
  });

  it("gives the node the resources and variables that are said", async () => {
    const resources = { limits: { memory: "1Gi" }, requests: { cpu: "1m" } };
    const further = { name: "NODE_OPTIONS", value: "--max-old-space-size=128" };
    const node = nodeIn(await render({ kind, resources: { ...resources }, extraEnv: [further] }), kind);
    expect(node.resources).toMatchObject(resources);
    expect(node.env).toContainEqual(further);
  });

  it("gives the pod labels and annotations beside those that it needs", async () => {
    const podLabels = { team: "net", app: "other", "app.kubernetes.io/name": "other" };
    const spec = the(await render({ kind, podLabels, podAnnotations: { one: "1" } }), kind).spec;
    expect(spec?.template.metadata).toEqual({
      labels: { team: "net", app: "peat-node", ...spec?.selector?.matchLabels },
      annotations: { one: "1" },
    });
  });
});

describe("the probes of a node", () => {
  const probes = ["startupProbe", "livenessProbe", "readinessProbe"] as const;
  const paths = ["/readyz", "/healthz", "/readyz"];

  it("are asked by the kubelet where the API listens at the pod's address", async () => {
    const node = nodeIn(await render({ listen: "tcp://0.0.0.0:9000" }));
    expect(node.ports).toContainEqual({ name: "api", containerPort: 9000, protocol: "TCP" });
    for (const [index, probe] of probes.entries())
      expect(node[probe]).toMatchObject({ httpGet: { path: paths[index], port: "api" } });
  });

  it.each([
    ["tcp://127.0.0.1:9000", 'host:"127.0.0.1",port:9000'],
    ["tcp://localhost:9000", 'host:"localhost",port:9000'],
    ["tcp://[::1]:9000", 'host:"::1",port:9000'],
    ["unix:///run/mesh-node/api.sock", 'socketPath:"/run/mesh-node/api.sock"'],
  ])("are asked by the container itself where the API listens at %s, and no port is declared", async (listen, at) => {
    const node = nodeIn(await render({ listen, irohUdpPort: 0 }));
    expect(node.ports).toBeUndefined();
    for (const [index, probe] of probes.entries()) {
      const { command } = (node[probe] as { exec: { command: string[] } }).exec;
      expect(command.slice(0, 2)).toEqual(["/nodejs/bin/node", "-e"]);
      expect(command[2]).toContain(`.get({${at},path:"${paths[index]}"},`);
    }
  });
});

describe("the documents of a node", () => {
  const claim = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };

  it("are in a volume of the pod's own in a StatefulSet", async () => {
    const objects = await render({ kind: "StatefulSet", dataDir: "/docs" });
    expect(specOf(objects, "StatefulSet")).toMatchObject({
      serviceName: the(objects, "Service").metadata.name,
      podManagementPolicy: "Parallel",
      persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
      volumeClaimTemplates: [{ metadata: { name: "mesh-node-data" }, spec: claim }],
    });
    expect(podIn(objects, "StatefulSet").volumes).toBeUndefined();
    expect(nodeIn(objects, "StatefulSet").volumeMounts).toEqual([{ name: "mesh-node-data", mountPath: "/docs" }]);
    expect(nodeIn(objects, "StatefulSet").args).toContain("--data-dir=/docs");
  });

  it("are in a volume as it is said", async () => {
    const persistence = {
      size: "5Gi",
      storageClassName: "fast",
      accessModes: ["ReadWriteOncePod"],
      whenScaled: "Delete",
    };
    expect(specOf(await render({ kind: "StatefulSet", persistence }), "StatefulSet")).toMatchObject({
      persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Delete" },
      volumeClaimTemplates: [
        {
          spec: {
            accessModes: ["ReadWriteOncePod"],
            storageClassName: "fast",
            resources: { requests: { storage: "5Gi" } },
          },
        },
      ],
    });
  });

  it.each([
    ["Deployment", true],
    ["StatefulSet", false],
  ])("end with the pod in a %s with persistence %s", async (kind, enabled) => {
    const objects = await render({ kind, persistence: { enabled } });
    expect(podIn(objects, kind).volumes).toEqual([{ name: "mesh-node-data", emptyDir: {} }]);
    expect(specOf(objects, kind)).not.toHaveProperty("volumeClaimTemplates");
  });

  it("are with the new pod before an upgrade ends the old one", async () => {
    expect(specOf(await render(), "Deployment")).toMatchObject({
      minReadySeconds: 10,
      strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    });
  });
});

describe("the optional objects of mesh-node's chart", () => {
  it("keep all replicas but one through a drain, and do not block the drain of a single one", async () => {
    const budget = specOf(await render({ replicas: 2 }), "PodDisruptionBudget");
    expect(budget).toMatchObject({ maxUnavailable: 1 });
    expect(await kindsOf()).not.toContain("PodDisruptionBudget");
    const off = { replicas: 2, podDisruptionBudget: { enabled: false } };
    expect(await kindsOf(off)).not.toContain("PodDisruptionBudget");
  });

  it("let peers in, and to the API only who is said", async () => {
    const apiFrom = [{ podSelector: { matchLabels: { app: "shop" } } }];
    const udp = { ports: [{ port: 11204, protocol: "UDP" }] };
    const ingressOf = async (networkPolicy: Values) =>
      specOf(await render({ networkPolicy: { enabled: true, ...networkPolicy } }), "NetworkPolicy").ingress;
    expect(await ingressOf({})).toEqual([udp]);
    expect(await ingressOf({ apiFrom })).toEqual([udp, { ports: [{ port: 50051, protocol: "TCP" }], from: apiFrom }]);
    const any = await render({ irohUdpPort: 0, networkPolicy: { enabled: true } });
    expect(specOf(any, "NetworkPolicy").ingress).toEqual([{ ports: [{ protocol: "UDP" }] }]);
  });

  it("give the pod the network of the machine, or one of its ports", async () => {
    expect(podIn(await render({ hostNetwork: true }))).toMatchObject({
      hostNetwork: true,
      dnsPolicy: "ClusterFirstWithHostNet",
    });
    expect(nodeIn(await render({ irohUdpHostPort: 4000 })).ports).toContainEqual({
      name: "iroh-quic",
      containerPort: 11204,
      hostPort: 4000,
      protocol: "UDP",
    });
  });

  it("share the socket of the API with the other containers of a pod", async () => {
    const objects = await render({ listen: "unix:///run/mesh-node/api.sock" });
    expect(podIn(objects).volumes).toContainEqual({ name: "mesh-node-socket", emptyDir: {} });
    expect(nodeIn(objects).volumeMounts).toContainEqual({ name: "mesh-node-socket", mountPath: "/run/mesh-node" });
  });

  it("are no workload where another chart has the sidecar", async () => {
    const values = { kind: "Sidecar", replicas: 3, sidecar: { selector: { app: "shop" } } };
    expect(await kindsOf({ ...values, discovery: { mode: "kubernetes" } })).toEqual([
      "Role",
      "RoleBinding",
      "Service",
      "ServiceAccount",
    ]);
    expect(specOf(await render(values), "Service")).toMatchObject({ selector: { app: "shop" } });
  });

  it("are named by the release, or as it is said", async () => {
    const namesOf = async (values: Values, release: string): Promise<string[]> => {
      const objects = await render({ replicas: 2, discovery: { mode: "kubernetes" }, ...values }, { release });
      return [...new Set(objects.map(({ metadata }) => metadata.name))];
    };
    expect(await namesOf({}, "mesh-node")).toEqual(["mesh-node"]);
    expect(await namesOf({}, "red")).toEqual(["red-mesh-node"]);
    expect(await namesOf({ fullnameOverride: "blue" }, "red")).toEqual(["blue"]);
  });

  it("need no cluster to be rendered", async () => {
    expect((await template({ discovery: { mode: "kubernetes" } })).stderr).toBe("");
  });
});
