import { describe, expect, it } from "vitest";
import { containerOf, podOf, refusal, render, the } from "./render.ts";

const imageOf = async (values = {}): Promise<string> => containerOf(await render(values)).image;
const argsOf = async (values = {}): Promise<readonly string[]> => containerOf(await render(values)).args;

describe("the Deployment of the chart", () => {
  it("runs the image of the given repository and tag", async () => {
    expect(await imageOf({ image: { repository: "registry.example/mesh", tag: "v9" } })).toBe(
      "registry.example/mesh:v9",
    );
  });

  it("runs the chart's appVersion when the tag is empty", async () => {
    expect(await imageOf()).toMatch(/:0\.1\.0$/);
  });

  it("has cozystack's repository by default, but not the Go operator's image", async () => {
    expect(await imageOf()).toMatch(/^ghcr\.io\/cozystack\/kilo-clustermesh:/);
  });

  it("refuses the Go operator's image, which is another program", async () => {
    const image = { repository: "ghcr.io/cozystack/kilo-clustermesh-operator" };
    expect(await refusal({ image })).toContain("another program");
  });

  it("has as many replicas as said", async () => {
    expect(the(await render({ replicaCount: 3 }), "Deployment").spec?.replicas).toBe(3);
  });

  it.each([true, false])("passes leader election %s to the operator", async (leaderElect) => {
    expect(await argsOf({ leaderElect })).toContain(`--leader-elect=${leaderElect}`);
  });

  it("refuses several replicas that would all write", async () => {
    expect(await refusal({ replicaCount: 2, leaderElect: false })).toContain("needs leaderElect: true");
  });

  it("replaces its pod one after the other only where no Lease keeps two from writing", async () => {
    const strategyOf = async (values = {}) => the(await render(values), "Deployment").spec?.strategy?.type;
    expect(await strategyOf()).toBe("RollingUpdate");
    expect(await strategyOf({ leaderElect: false })).toBe("Recreate");
  });

  it("passes the address of the metrics", async () => {
    expect(await argsOf()).toContain("--metrics-bind-address=:8080");
    expect(await argsOf({ metricsBindAddress: "127.0.0.1:9090" })).toContain("--metrics-bind-address=127.0.0.1:9090");
  });

  it("serves metrics without TLS by default, and with it when asked", async () => {
    expect(await argsOf()).toContain("--metrics-secure=false");
    const objects = await render({ metricsSecure: true, metricsCertSecret: "metrics-tls" });
    expect(containerOf(objects).args).toEqual(
      expect.arrayContaining(["--metrics-secure=true", "--metrics-cert-path=/metrics-certificate"]),
    );
    expect(containerOf(objects).volumeMounts).toEqual([
      { name: "metrics-certificate", mountPath: "/metrics-certificate", readOnly: true },
    ]);
    expect(podOf(objects).volumes).toEqual([{ name: "metrics-certificate", secret: { secretName: "metrics-tls" } }]);
  });

  it("refuses TLS for metrics without a certificate", async () => {
    expect(await refusal({ metricsSecure: true })).toContain("metricsCertSecret");
  });

  it("passes the address of the probes", async () => {
    expect(await argsOf()).toContain("--health-probe-bind-address=:8081");
    expect(await argsOf({ healthProbeBindAddress: ":9999" })).toContain("--health-probe-bind-address=:9999");
  });

  it("passes the Go operator's four arguments and no other by default", async () => {
    expect((await argsOf()).map((argument) => argument.replace(/=.*/, ""))).toEqual([
      "--leader-elect",
      "--metrics-bind-address",
      "--metrics-secure",
      "--health-probe-bind-address",
    ]);
  });

  it("passes every other flag when its value is set", async () => {
    const args = await argsOf({
      instance: "east",
      kubeconfigAllow: ["proxy", "loopback"],
      allowedCidrs: ["10.0.0.0/8", "fd00::/8"],
      localNamespaces: ["kilo-system", "net"],
      legacyOrphans: "report",
      logLevel: "debug",
      nodeKeepalive: { enabled: true, seconds: 25 },
      extraArgs: ["--one=1"],
    });
    expect(args.slice(4)).toEqual([
      "--instance=east",
      "--kubeconfig-allow=proxy,loopback",
      "--allowed-cidr=10.0.0.0/8,fd00::/8",
      "--local-namespaces=kilo-system,net",
      "--legacy-orphans=report",
      "--log-level=debug",
      "--node-keepalive=25",
      "--one=1",
    ]);
  });

  it("runs as the non-root user 65532", async () => {
    expect(podOf(await render()).securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 65532 });
  });

  it("has the runtime's seccomp profile", async () => {
    expect(podOf(await render()).securityContext).toMatchObject({ seccompProfile: { type: "RuntimeDefault" } });
  });

  it("cannot gain privileges, write to its root or use a capability", async () => {
    expect(containerOf(await render()).securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
  });

  it("has the resources that are said", async () => {
    const resources = { limits: { memory: "1Gi", cpu: "2" }, requests: { memory: "64Mi", cpu: "1m" } };
    expect(containerOf(await render({ resources })).resources).toEqual(resources);
  });

  it.each([
    ["nodeSelector", { disk: "fast" }],
    ["tolerations", [{ key: "control-plane", operator: "Exists" }]],
    ["affinity", { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } }],
    ["topologySpreadConstraints", [{ maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "ScheduleAnyway" }]],
    ["imagePullSecrets", [{ name: "pull" }]],
    ["priorityClassName", "system-cluster-critical"],
    ["terminationGracePeriodSeconds", 5],
  ])("gives the pod the %s that is said", async (field, value) => {
    expect(podOf(await render({ [field]: value }))[field]).toEqual(value);
  });

  it("gives the pod the labels that select it, and others beside them", async () => {
    const podLabels = { team: "net", "app.kubernetes.io/name": "other" };
    const spec = the(await render({ podLabels }), "Deployment").spec;
    expect(spec?.template.metadata.labels).toEqual({ team: "net", ...spec?.selector?.matchLabels });
    expect(spec?.selector?.matchLabels).toEqual({
      "app.kubernetes.io/name": "kilo-clustermesh-operator",
      "app.kubernetes.io/instance": "kilo-clustermesh-operator",
    });
  });

  it("uses the ServiceAccount of the release, or the one that is named", async () => {
    const accountOf = async (serviceAccount = {}) => podOf(await render({ serviceAccount })).serviceAccountName;
    expect(await accountOf()).toBe("kilo-clustermesh-operator");
    expect(await accountOf({ name: "mesh" })).toBe("mesh");
    expect(await accountOf({ create: false })).toBe("default");
  });

  it("pulls the image by the policy that is said", async () => {
    expect(containerOf(await render({ image: { pullPolicy: "Always" } })).imagePullPolicy).toBe("Always");
  });

  it("tells the operator its namespace", async () => {
    const fieldRef = { fieldPath: "metadata.namespace" };
    const further = { name: "HTTPS_PROXY", value: "http://proxy.example" };
    expect(containerOf(await render({ extraEnv: [further] })).env).toEqual([
      { name: "POD_NAMESPACE", valueFrom: { fieldRef } },
      further,
    ]);
  });

  it("is probed at /healthz and /readyz, on the port of the probes", async () => {
    const container = containerOf(await render({ healthProbeBindAddress: ":9999" }));
    expect(container).toMatchObject({
      name: "manager",
      livenessProbe: { httpGet: { path: "/healthz", port: "health" } },
      readinessProbe: { httpGet: { path: "/readyz", port: "health" } },
    });
    expect(container.ports).toContainEqual({ name: "health", containerPort: 9999, protocol: "TCP" });
  });

  it("has neither probes nor ports where they are turned off", async () => {
    const container = containerOf(await render({ healthProbeBindAddress: "0", metricsBindAddress: 0 }));
    expect(Object.keys(container)).not.toEqual(expect.arrayContaining(["livenessProbe"]));
    expect(container.ports).toBeUndefined();
    expect(container.args).toContain("--metrics-bind-address=0");
  });
});
