import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type NodeProcess, startNodeProcess } from "../../test/mesh-node/node-process.ts";
import type { RealCluster } from "../control-plane/real-cluster.ts";
import { applyObject } from "../control-plane/request.ts";
import type { Container, Rendered } from "./render.ts";

/** The controller leaves a pod out whose node it does not find. */
const worker = "worker";

export interface PodStart {
  readonly namespace: string;
  readonly name: string;
  readonly ip: string;
}

export async function addWorker(cluster: RealCluster): Promise<void> {
  const node = { apiVersion: "v1", kind: "Node", metadata: { name: worker } };
  await applyObject(cluster.admin, `/api/v1/nodes/${worker}`, node);
}

/** Does what the Deployment's controller, the scheduler and a kubelet would: a pod of its template that is ready at `ip`. */
export async function addPod(cluster: RealCluster, deployment: Rendered, { namespace, name, ip }: PodStart) {
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const { metadata, spec } = deployment.spec?.template ?? {};
  await cluster.requestJson({
    method: "POST",
    path: pods,
    body: { apiVersion: "v1", kind: "Pod", metadata: { ...metadata, name }, spec: { ...spec, nodeName: worker } },
  });
  await cluster.requestJson({
    method: "PATCH",
    path: `${pods}/${name}/status`,
    contentType: "application/merge-patch+json",
    body: {
      status: { phase: "Running", podIP: ip, podIPs: [{ ip }], conditions: [{ type: "Ready", status: "True" }] },
    },
  });
}

/** A token that the server issues for a ServiceAccount. */
export async function tokenOf(cluster: RealCluster, namespace: string, account: string): Promise<string> {
  const { status } = await cluster.requestJson<{ status: { token: string } }>({
    method: "POST",
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
    body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 3600 } },
  });
  return status.token;
}

export interface ContainerStart extends Omit<PodStart, "ip"> {
  readonly container: Container;
  readonly account: string;
  /** Name and entry of the Secret that has the key. */
  readonly secret: readonly [string, string];
}

/** Runs a container's arguments on this machine, with the files that a kubelet would mount. */
export async function runContainer(cluster: RealCluster, folder: string, start: ContainerStart): Promise<NodeProcess> {
  const { namespace, name, container, account, secret } = start;
  const home = mkdtempSync(join(folder, "pod-"));
  const path = `/api/v1/namespaces/${namespace}/secrets/${secret[0]}`;
  const { data } = await cluster.requestJson<{ data: Record<string, string> }>({ path });
  const files = {
    "shared-key": Buffer.from(data[secret[1]] ?? "", "base64").toString(),
    token: await tokenOf(cluster, namespace, account),
    "ca.crt": cluster.caPem,
    namespace,
  };
  for (const [file, text] of Object.entries(files)) writeFileSync(join(home, file), text, { mode: 0o600 });
  const { hostname, port } = new URL(cluster.url);
  return startNodeProcess({
    flags: [
      ...container.args,
      `--shared-key-file=${join(home, "shared-key")}`,
      `--service-account-dir=${home}`,
      `--data-dir=${join(home, "data")}`,
    ],
    env: { POD_NAME: name, KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port },
  });
}

/** Runs the command of a probe with the Node of this process; resolves with its exit code. */
export async function runProbe(container: Container, probe: string): Promise<number | null> {
  const [, ...words] = (container[probe] as { exec: { command: string[] } }).exec.command;
  const [code] = (await once(spawn(process.execPath, words, { stdio: "ignore" }), "exit")) as [number | null];
  return code;
}
