import type { ClientRequest, IncomingMessage } from "node:http";
import { request } from "node:https";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import type { EndpointSlice } from "../../src/mesh-node/discovery/slice-facts.ts";
import { eventually } from "../../test/support/eventually.ts";
import type { RealCluster } from "../control-plane/real-cluster.ts";

interface SliceEvent {
  readonly type: string;
  readonly object: EndpointSlice;
}

interface Sight {
  readonly atMs: number;
  /** Addresses that are ready, sorted, with commas. */
  readonly ready: string;
}

/** Watches the EndpointSlices of a namespace as anybody may, with a clock: `performance.now()`. */
export class SliceEvents {
  readonly #cluster: RealCluster;
  readonly #path: string;
  readonly #slices = new Map<string, EndpointSlice>();
  readonly #sights: Sight[] = [];
  #request: ClientRequest | undefined;
  #closed = false;

  constructor(cluster: RealCluster, namespace: string) {
    this.#cluster = cluster;
    this.#path = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices?watch=true`;
    void this.#run();
  }

  /** So many events were seen. */
  get count(): number {
    return this.#sights.length;
  }

  /** When the slices first said, not before `sinceMs`, that these addresses are ready and no others. */
  async readyAt(ips: readonly string[], sinceMs: number): Promise<number> {
    const wanted = [...ips].sort().join();
    const isIt = ({ atMs, ready }: Sight) => atMs >= sinceMs && ready === wanted;
    return eventually(() => {
      const sight = this.#sights.find(isIt);
      if (!sight) throw new Error(`ready are ${this.#sights.at(-1)?.ready}, not ${wanted}`);
      return sight.atMs;
    });
  }

  close(): void {
    this.#closed = true;
    this.#request?.destroy();
  }

  async #run(): Promise<void> {
    while (!this.#closed) {
      await this.#watch().catch(() => undefined);
      await delay(100);
    }
  }

  async #watch(): Promise<void> {
    const { url, caPem, adminToken } = this.#cluster;
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { authorization: `Bearer ${adminToken}`, accept: "application/json" };
      this.#request = request(new URL(this.#path, url), { headers, ca: caPem, agent: false }, resolve);
      this.#request.on("error", reject).end();
    });
    for await (const line of createInterface({ input: answer })) this.#see(JSON.parse(line) as SliceEvent);
  }

  #see({ type, object }: SliceEvent): void {
    if (type === "DELETED") this.#slices.delete(object.metadata.name);
    else this.#slices.set(object.metadata.name, object);
    const endpoints = [...this.#slices.values()].flatMap((slice) => slice.endpoints ?? []);
    const ready = endpoints.filter(({ conditions }) => conditions?.ready !== false);
    this.#sights.push({
      atMs: performance.now(),
      ready: ready
        .flatMap(({ addresses }) => addresses ?? [])
        .sort()
        .join(),
    });
  }
}
