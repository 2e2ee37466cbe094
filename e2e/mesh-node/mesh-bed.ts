import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { type NodeProcess, startNodeProcess } from "../../test/mesh-node/node-process.ts";
import { envOf } from "../../test/support/discovering.ts";
import { eventually } from "../../test/support/eventually.ts";
import { type Exposition, parseExposition } from "../../test/support/exposition.ts";
import { type ControlPlane, startControlPlane } from "../control-plane/control-plane.ts";
import type { RealCluster } from "../control-plane/real-cluster.ts";
import { applyObject } from "../control-plane/request.ts";
import { type ChartRelease, installChart } from "./chart-release.ts";
import { controlPlaneIp } from "./own-network.ts";
import { Pods } from "./pods.ts";
import { SliceEvents } from "./slice-events.ts";

export const namespace = "mesh";
/** The secret of the formation. */
export const key = Buffer.alloc(32, 5);

/** A node in its pod. */
export interface Pod {
  readonly name: string;
  readonly ip: string;
  readonly node: NodeProcess;
}

export interface PodWish {
  readonly name: string;
  readonly ip: string;
  /** Another secret than the formation's. */
  readonly sharedKey?: Buffer;
  readonly flags?: readonly string[];
  /** Its documents; those of the pod of the same name when not said. */
  readonly dataOf?: string;
}

/** A real cluster with the chart installed, and real nodes on the addresses of their pods, in a network of its own. */
export class MeshBed {
  readonly cluster: RealCluster;
  readonly slices: SliceEvents;
  readonly pods: Pods;
  readonly #controlPlane: ControlPlane;
  readonly #release: ChartRelease;
  readonly #folder = mkdtempSync(join(tmpdir(), "mesh-bed-"));
  readonly #nodes: NodeProcess[] = [];

  private constructor(controlPlane: ControlPlane, cluster: RealCluster, release: ChartRelease) {
    this.cluster = cluster;
    this.slices = new SliceEvents(cluster, namespace);
    this.pods = new Pods(cluster, namespace, release.labels);
    this.#controlPlane = controlPlane;
    this.#release = release;
    const files = { "ca.crt": cluster.caPem, token: release.token, namespace };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(this.#folder, name), text);
  }

  static async start(): Promise<MeshBed> {
    const options = { clusters: 1, controllerManager: true, audit: true, address: controlPlaneIp };
    const controlPlane = await startControlPlane(options);
    try {
      const cluster = controlPlane.clusters[0] as RealCluster;
      const bed = new MeshBed(controlPlane, cluster, await installChart(cluster, namespace));
      await bed.pods.createNode();
      return bed;
    } catch (error) {
      await controlPlane.stop();
      throw error;
    }
  }

  /** Starts a node as the chart does, at the address of a pod that nobody knows yet. */
  async startNode({ name, ip, sharedKey = key, flags = [], dataOf = name }: PodWish): Promise<Pod> {
    const keyFile = join(this.#folder, `${name}-${ip}.key`);
    writeFileSync(keyFile, sharedKey.toString("base64"), { mode: 0o600 });
    const own = ["--listen", `tcp://${ip}:50051`, "--iroh-udp-host", ip, "--shared-key-file", keyFile];
    const folders = ["--data-dir", join(this.#folder, "data", dataOf), "--service-account-dir", this.#folder];
    const node = await startNodeProcess({
      flags: [...this.#release.args, ...own, ...folders, ...flags],
      env: { ...envOf(this.cluster.url), POD_NAME: name },
    });
    this.#nodes.push(node);
    return { name, ip, node };
  }

  /** A pod that is ready as soon as its node runs. */
  async startPod(wish: PodWish): Promise<Pod> {
    const pod = await this.startNode(wish);
    await this.pods.run(pod.name, pod.ip);
    return pod;
  }

  /** The pod terminates, its node ends by the signal, then the pod is gone. */
  async endPod({ name, node }: Pod, signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> {
    await this.pods.terminate(name);
    await node.end(signal);
    await this.pods.remove(name);
  }

  /** A slice made by hand: it says that the pod is ready at the address. */
  async writeSlice(pod: string, ip: string, annotations: Readonly<Record<string, string>> = {}): Promise<void> {
    const name = `by-hand-${pod}`;
    const path = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices/${name}`;
    await applyObject(this.cluster.admin, path, {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { name, labels: { app: "peat-node" }, annotations },
      addressType: "IPv4",
      endpoints: [{ addresses: [ip], conditions: { ready: true }, targetRef: { kind: "Pod", name: pod, namespace } }],
      ports: [{ name: "iroh-quic", port: 11_204, protocol: "UDP" }],
    });
  }

  async stop(): Promise<void> {
    this.slices.close();
    for (const node of this.#nodes) await node.end("SIGKILL");
    await this.#controlPlane.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

export async function peersOf({ node }: Pod): Promise<string[]> {
  const { peers = [] } = await node.call("ListPeers");
  return (peers as { endpointId: string }[]).map(({ endpointId }) => endpointId);
}

/** Resolves with the time when every one of them lists exactly the others. */
export async function areMeshed(pods: readonly Pod[], withinMs = 30_000): Promise<number> {
  const check = async () => {
    for (const pod of pods) {
      const others = pods.filter((other) => other !== pod).map(({ node }) => node.endpointId);
      expect(await peersOf(pod), `peers of ${pod.name}`).toEqual(others.sort());
    }
  };
  await eventually(check, { withinMs, everyMs: 5, message: "no full mesh" });
  return performance.now();
}

const collection = "c";

export async function put({ node }: Pod, docId: string): Promise<void> {
  await node.call("PutDocument", { collection, docId, jsonData: JSON.stringify({ by: docId }) });
}

/** Resolves with the time when all of them have the documents. */
export async function haveDocuments(pods: readonly Pod[], docIds: readonly string[]): Promise<number> {
  const check = async () => {
    for (const docId of docIds)
      for (const { node, name } of pods)
        expect(await node.call("GetDocument", { collection, docId }), `${docId} on ${name}`).toEqual({
          jsonData: JSON.stringify({ by: docId }),
        });
  };
  await eventually(check, { everyMs: 5, message: "not everywhere" });
  return performance.now();
}

export async function documentsOf({ node }: Pod): Promise<readonly string[]> {
  const { docIds = [] } = await node.call("ListDocuments", { collection });
  return docIds as readonly string[];
}

export async function metricsOf({ node }: Pod): Promise<Exposition> {
  return parseExposition((await node.get("/metrics")).body);
}

/** Which process it is: a node that was restarted is another one. */
export async function lifeOf(pod: Pod): Promise<string> {
  process.kill(pod.node.pid, 0);
  return `${pod.node.pid} since ${(await metricsOf(pod)).value("process_start_time_seconds")}`;
}

export function report(what: string, fromMs: number, toMs: number): void {
  console.log(`mesh: ${what} ${Math.round(toMs - fromMs)} ms`);
}
