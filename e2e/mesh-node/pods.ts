import type { RealCluster } from "../control-plane/real-cluster.ts";
import { applyObject } from "../control-plane/request.ts";

const peatNode = { app: "peat-node" };
/** The controller leaves a pod out whose node it does not find. */
const nodeName = "worker";

/** Pods of a Service in one namespace, whose state a test sets as a kubelet would. */
export class Pods {
  readonly #cluster: RealCluster;
  readonly #namespace: string;
  readonly #labels: Readonly<Record<string, string>>;

  constructor(cluster: RealCluster, namespace: string, labels: Readonly<Record<string, string>> = peatNode) {
    this.#cluster = cluster;
    this.#namespace = namespace;
    this.#labels = labels;
  }

  /** The node that every pod is on. */
  async createNode(): Promise<void> {
    const node = { apiVersion: "v1", kind: "Node", metadata: { name: nodeName } };
    await applyObject(this.#cluster.admin, `/api/v1/nodes/${nodeName}`, node);
  }

  /** A headless Service with the API's port before the one for links; it publishes only pods that are ready. */
  async createService(name = "peat-node"): Promise<void> {
    const ports = [
      { name: "grpc", port: 50_051, protocol: "TCP" },
      { name: "iroh-quic", port: 4433, protocol: "UDP" },
    ];
    await this.createNode();
    const labels = this.#labels;
    const spec = { clusterIP: "None", selector: labels, ports };
    await applyObject(this.#cluster.admin, this.#path("services", name), {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name, labels },
      spec,
    });
  }

  /** A pod that runs at `ip` and is ready. */
  async run(name: string, ip: string): Promise<void> {
    await this.#cluster.requestJson({
      method: "POST",
      path: this.#path("pods"),
      body: {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name, labels: this.#labels },
        spec: { nodeName, containers: [{ name: "mesh-node", image: "mesh-node" }] },
      },
    });
    await this.setStatus(name, { ip, ready: true });
  }

  async setStatus(name: string, { ip, ready }: { readonly ip: string; readonly ready: boolean }): Promise<void> {
    const conditions = [{ type: "Ready", status: ready ? "True" : "False" }];
    await this.#cluster.requestJson({
      method: "PATCH",
      path: `${this.#path("pods", name)}/status`,
      contentType: "application/merge-patch+json",
      body: { status: { phase: "Running", podIP: ip, podIPs: [{ ip }], conditions } },
    });
  }

  /** Asks for its end: it is terminating until `remove`. */
  async terminate(name: string): Promise<void> {
    await this.#delete(name, 600);
  }

  async remove(name: string): Promise<void> {
    await this.#delete(name, 0);
  }

  async #delete(name: string, gracePeriodSeconds: number): Promise<void> {
    await this.#cluster.requestJson({
      method: "DELETE",
      path: `${this.#path("pods", name)}?gracePeriodSeconds=${gracePeriodSeconds}`,
    });
  }

  #path(plural: string, name?: string): string {
    return `/api/v1/namespaces/${this.#namespace}/${plural}${name ? `/${name}` : ""}`;
  }
}
