import { join } from "node:path";
import { containerOf, objectsIn, type Rendered, the } from "../chart/render.ts";
import { helm } from "../control-plane/kubectl.ts";
import type { RealCluster } from "../control-plane/real-cluster.ts";
import { applyObject } from "../control-plane/request.ts";

/** What the pods of an installed chart have. */
export interface ChartRelease {
  /** The Service selects the pods by them. */
  readonly labels: Readonly<Record<string, string>>;
  /** With which the chart starts a node. */
  readonly args: readonly string[];
  /** Of the chart's ServiceAccount, with the rights of the chart's Role. */
  readonly token: string;
}

const pathByKind = {
  ServiceAccount: (namespace: string) => `/api/v1/namespaces/${namespace}/serviceaccounts`,
  Service: (namespace: string) => `/api/v1/namespaces/${namespace}/services`,
  Role: (namespace: string) => `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/roles`,
  RoleBinding: (namespace: string) => `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`,
} as const;

/** Installs the chart in mode kubernetes, but for the Deployment: no controller here would make its pods. */
export async function installChart(cluster: RealCluster, namespace: string): Promise<ChartRelease> {
  const objects = await render(cluster, namespace);
  const metadata = { name: namespace };
  await applyObject(cluster.admin, `/api/v1/namespaces/${namespace}`, {
    apiVersion: "v1",
    kind: "Namespace",
    metadata,
  });
  for (const [kind, path] of Object.entries(pathByKind)) {
    const object = the(objects, kind);
    await applyObject(cluster.admin, `${path(namespace)}/${object.metadata.name}`, object);
  }
  const labels = the(objects, "Deployment").spec?.template.metadata.labels ?? {};
  const account = the(objects, "ServiceAccount").metadata.name;
  return { labels, args: containerOf(objects).args, token: await tokenOf(cluster, namespace, account) };
}

async function render(cluster: RealCluster, namespace: string): Promise<Rendered[]> {
  const values = ["discovery.mode=kubernetes", "replicas=3", "sharedKey.existingSecret=mesh-key"];
  const words = ["template", "mesh", "charts/mesh-node", "--namespace", namespace, "--set", values.join()];
  const { stdout, stderr, code } = await helm(words, { kubeconfigFile: join(cluster.folder, "none") });
  if (code !== 0) throw new Error(stderr);
  return objectsIn(stdout);
}

async function tokenOf(cluster: RealCluster, namespace: string, account: string): Promise<string> {
  const answer = await cluster.requestJson<{ status: { token: string } }>({
    method: "POST",
    path: `${pathByKind.ServiceAccount(namespace)}/${account}/token`,
    body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 3600 } },
  });
  return answer.status.token;
}
