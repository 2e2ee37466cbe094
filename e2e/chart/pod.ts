import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { kubeconfigOf } from "../control-plane/kubeconfig.ts";
import type { RealCluster } from "../control-plane/real-cluster.ts";
import { askFor } from "../control-plane/request.ts";
import { type Supervised, startSupervised } from "../control-plane/supervised.ts";
import { bundleInto } from "../operator/real-mesh.ts";
import { containerOf, namespace, type Rendered, release } from "./render.ts";

export interface RunningPod {
  readonly child: Supervised;
  log(): string;
}

/** Does for the release's Deployment what a kubelet would: its arguments, its ServiceAccount's token, its namespace. */
export async function startPod(cluster: RealCluster, folder: string): Promise<RunningPod> {
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments/${release}`;
  const deployment = await cluster.requestJson<Rendered>({ path });
  const account = deployment.spec?.template.spec.serviceAccountName ?? "";
  const kubeconfig = await kubeconfigFor(cluster, { namespace, name: account });
  return startBundle({ folder, kubeconfig, args: containerOf([{ ...deployment, kind: "Deployment" }]).args });
}

export async function kubeconfigFor(
  cluster: RealCluster,
  account: { readonly namespace: string; readonly name: string },
): Promise<string> {
  const answer = await askFor<{ status: { token: string } }>(cluster.admin, {
    method: "POST",
    path: `/api/v1/namespaces/${account.namespace}/serviceaccounts/${account.name}/token`,
    body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 3600 } },
  });
  return kubeconfigOf(account.name, { ...cluster.admin, token: answer.status.token });
}

export interface BundleStart {
  readonly folder: string;
  readonly kubeconfig: string;
  readonly args: readonly string[];
}

/** Starts the bundle alone in an empty folder. */
export async function startBundle({ folder, kubeconfig, args }: BundleStart): Promise<RunningPod> {
  const home = mkdtempSync(join(folder, "pod-"));
  const kubeconfigFile = join(home, "kubeconfig.yaml");
  writeFileSync(kubeconfigFile, kubeconfig, { mode: 0o600 });
  const logFile = join(home, "operator.log");
  const child = await startSupervised({
    command: process.execPath,
    args: [bundleInto(home), "--kubeconfig", kubeconfigFile, ...args],
    cwd: home,
    env: { PATH: process.env.PATH ?? "", POD_NAMESPACE: namespace },
    logFile,
    graceMs: 10_000,
  });
  return { child, log: () => readFileSync(logFile, "utf8") };
}
