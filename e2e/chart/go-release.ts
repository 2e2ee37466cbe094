import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { namespace, type Rendered, release } from "./render.ts";

const selector = { "app.kubernetes.io/name": release, "app.kubernetes.io/instance": release };
const labels = {
  ...selector,
  "helm.sh/chart": `${release}-0.1.0`,
  "app.kubernetes.io/version": "0.1.0",
  "app.kubernetes.io/managed-by": "Helm",
};
const metadata = { name: release, labels };
const rbac = "rbac.authorization.k8s.io";

const manager = {
  name: "manager",
  image: "ghcr.io/cozystack/kilo-clustermesh-operator:0.1.0",
  imagePullPolicy: "IfNotPresent",
  args: [
    "--leader-elect=true",
    "--metrics-bind-address=:8080",
    "--metrics-secure=false",
    "--health-probe-bind-address=:8081",
  ],
  env: [{ name: "POD_NAMESPACE", valueFrom: { fieldRef: { fieldPath: "metadata.namespace" } } }],
  resources: { limits: { cpu: "500m", memory: "128Mi" }, requests: { cpu: "10m", memory: "64Mi" } },
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  },
};

const rules = [
  { apiGroups: [""], resources: ["nodes"], verbs: ["get", "list", "watch", "patch"] },
  { apiGroups: ["kilo.squat.ai"], resources: ["clustermeshes"], verbs: ["get", "list", "watch", "update", "patch"] },
  { apiGroups: [""], resources: ["secrets"], verbs: ["get", "list", "watch"] },
  { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get", "create", "update"] },
];

/** What the Go operator's chart makes for a release of its own name, as its users have it. */
export const goObjects: readonly Rendered[] = [
  { apiVersion: "v1", kind: "ServiceAccount", metadata: { ...metadata, namespace } },
  { apiVersion: `${rbac}/v1`, kind: "ClusterRole", metadata, rules },
  {
    apiVersion: `${rbac}/v1`,
    kind: "ClusterRoleBinding",
    metadata,
    roleRef: { apiGroup: rbac, kind: "ClusterRole", name: release },
    subjects: [{ kind: "ServiceAccount", name: release, namespace }],
  } as Rendered,
  {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { ...metadata, namespace },
    spec: {
      replicas: 1,
      selector: { matchLabels: selector },
      template: {
        metadata: { labels: selector },
        spec: {
          serviceAccountName: release,
          securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: "RuntimeDefault" } },
          containers: [manager],
        },
      },
    },
  },
];

const goValues = {
  image: { repository: "ghcr.io/cozystack/kilo-clustermesh-operator", tag: "", pullPolicy: "IfNotPresent" },
  replicaCount: 1,
  leaderElect: true,
  metricsBindAddress: ":8080",
  metricsSecure: false,
  healthProbeBindAddress: ":8081",
  resources: manager.resources,
  nodeSelector: {},
  tolerations: [],
  affinity: {},
  serviceAccount: { create: true, name: "", annotations: {} },
};

/** A chart with the Go operator's name, version, values and objects. */
export function writeGoChart(folder: string): string {
  const path = join(folder, release);
  mkdirSync(join(path, "templates"), { recursive: true });
  writeFileSync(join(path, "Chart.yaml"), stringify({ apiVersion: "v2", name: release, version: "0.1.0" }));
  writeFileSync(join(path, "values.yaml"), stringify(goValues));
  const manifest = goObjects.map((object) => stringify(object, { aliasDuplicateObjects: false })).join("---\n");
  writeFileSync(join(path, "templates", "all.yaml"), manifest);
  return path;
}
