// A bare loop of writes in a process of its own: what an operator could at best need for its Peers; see operator.ts.
import { type PeerObject, peers } from "../src/api/kilo-peer.ts";
import { labels } from "../src/api/names.ts";
import type { KubeClient } from "../src/kube/client.ts";
import { mapLimited } from "../src/runtime/limit.ts";
import { clientOf } from "./operator-clients.ts";

export interface FloorRun {
  readonly clusters: readonly { readonly name: string; readonly kubeconfig: string }[];
}

/** `create`: these Peers in each cluster. `renumber`: all Peers of that source again. `write`: one Peer in some clusters. */
export type FloorOrder =
  | { readonly kind: "load"; readonly peers: readonly (readonly PeerObject[])[] }
  | { readonly kind: "create" }
  | { readonly kind: "renumber"; readonly source: string }
  | { readonly kind: "write"; readonly except: number; readonly port: number };

export interface FloorDone {
  readonly kind: "done";
  readonly ms: number;
}

/** As many as the operator writes to one cluster at once. */
const writesAtOnce = 8;
const probe: PeerObject = {
  apiVersion: "kilo.squat.ai/v1alpha1",
  kind: "Peer",
  metadata: { name: "somebody-elses" },
  spec: { publicKey: Buffer.alloc(32, 7).toString("base64"), allowedIPs: ["203.0.113.1/32"] },
};

class Floor {
  readonly #clients: readonly KubeClient[];
  #peers: (readonly PeerObject[])[] = [];
  #probes: (PeerObject | undefined)[] = [];

  constructor({ clusters }: FloorRun) {
    this.#clients = clusters.map(({ name, kubeconfig }) => clientOf(name, kubeconfig, "bench-floor"));
  }

  async follow(order: FloorOrder): Promise<void> {
    if (order.kind === "load") this.#peers = [...order.peers];
    else if (order.kind === "create") await this.#everywhere((client, peer) => client.create(peers, peer));
    else if (order.kind === "renumber") await this.#renumber(order.source);
    else await this.#write(order.except, order.port);
  }

  async #everywhere(write: (client: KubeClient, peer: PeerObject) => Promise<PeerObject>): Promise<void> {
    const all = this.#clients.map(async (client, cluster) => {
      this.#peers[cluster] = await mapLimited(this.#peers[cluster] ?? [], writesAtOnce, (peer) => write(client, peer));
    });
    await Promise.all(all);
  }

  #renumber(source: string): Promise<void> {
    return this.#everywhere(async (client, peer) => {
      if (peer.metadata.labels?.[labels.source] !== source) return peer;
      const allowedIPs = peer.spec.allowedIPs.map((route) => route.replace(/\.(\d+)\.(\d+)\/32$/, renumbered));
      return client.replace(peers, { ...peer, spec: { ...peer.spec, allowedIPs } });
    });
  }

  /** One Peer in every cluster but one, at once: the last answer counts. */
  async #write(except: number, port: number): Promise<void> {
    const endpoint = { dnsOrIP: { ip: "203.0.113.2" }, port };
    const others = this.#clients.map(async (client, cluster) => {
      if (cluster === except) return;
      const before = this.#probes[cluster] ?? probe;
      const object = { ...before, spec: { ...before.spec, endpoint } };
      const isNew = before === probe;
      this.#probes[cluster] = await (isNew ? client.create(peers, object) : client.replace(peers, object));
    });
    await Promise.all(others);
  }
}

const renumbered = (_: string, high: string, low: string): string => `.${Number(high) ^ 128}.${low}/32`;

const floor = new Floor(JSON.parse(process.argv[2] ?? "{}") as FloorRun);
process.on("disconnect", () => process.exit());
process.on("message", (order: FloorOrder) => {
  const startedAtMs = performance.now();
  floor.follow(order).then(
    () => process.send?.({ kind: "done", ms: performance.now() - startedAtMs } satisfies FloorDone),
    (error: unknown) => {
      process.stderr.write(`floor: ${error instanceof Error ? error.message : String(error)}\n`);
      process.exit(1);
    },
  );
});
