import { setTimeout as delay } from "node:timers/promises";
import { nodes } from "../../src/api/kilo-node.ts";
import { type PeerObject, peers } from "../../src/api/kilo-peer.ts";
import { annotations, nodeAnnotations } from "../../src/api/names.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import { createClient } from "../../src/kube/http-client.ts";
import { Informer } from "../../src/kube/informer.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { silentLogger } from "../../src/runtime/log.ts";
import { eventually } from "../../test/support/eventually.ts";
import { configOf } from "../../test/support/run-operator.ts";
import type { ControlPlane } from "../control-plane/control-plane.ts";
import { nodeNameOf } from "./real-mesh.ts";

/** How long the change of a node took to become a Peer of one other cluster. */
export interface Arrival {
  readonly source: number;
  readonly target: number;
  readonly ms: number;
}

interface Awaited {
  readonly source: number;
  readonly target: number;
  readonly port: number;
  readonly sinceMs: number;
}

interface SeenPeer {
  readonly node: string;
  readonly port: number;
}

const firstPort = 20_000;

/** Nodes that get one endpoint after another, and watches that see each of them become a Peer of every other cluster. */
export class NodeChanges {
  readonly #clients: readonly KubeClient[];
  readonly #informers: readonly Informer<PeerObject, SeenPeer>[];
  readonly #nodesEach: number;
  /** By target and node. A later port says that the earlier ones have come, too. */
  readonly #awaited = new Map<string, Awaited[]>();
  #arrivals: Arrival[] = [];
  #changes = 0;

  constructor({ clusters }: ControlPlane, nodesEach: number) {
    this.#nodesEach = nodesEach;
    this.#clients = clusters.map(({ name, adminKubeconfig }) =>
      createClient(configOf(adminKubeconfig), { cluster: name, userAgent: "node-changes" }),
    );
    const options = { resource: peers, decode: seenOf, same: () => false, clock: systemClock, log: silentLogger };
    this.#informers = this.#clients.map((client) => new Informer({ ...options, client }));
  }

  async start(): Promise<void> {
    const listed = this.#informers.map((informer, target) => {
      informer.onChange(({ after }) => after && this.#seen(target, after));
      return new Promise<void>((resolve) => {
        informer.onListed(resolve);
        informer.start();
      });
    });
    await Promise.all(listed);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#informers.map((informer) => informer.stop()));
    for (const client of this.#clients) client.close();
  }

  /** So many changes a second, one node after another in every cluster in turn. What arrived meanwhile. */
  async run({ perSecond, seconds }: { readonly perSecond: number; readonly seconds: number }): Promise<Arrival[]> {
    const writes: Promise<unknown>[] = [];
    const startedMs = performance.now();
    for (let turn = 1; turn <= perSecond * seconds; turn++) {
      writes.push(this.#change());
      await delay(Math.max(0, startedMs + (turn * 1000) / perSecond - performance.now()));
    }
    await Promise.all(writes);
    const arrived = this.#arrivals;
    this.#arrivals = [];
    return arrived;
  }

  /** Resolves when no change is missing anywhere; what had been missing. */
  async settled(withinMs: number): Promise<Arrival[]> {
    await eventually(
      () => {
        const missing = [...this.#awaited.values()].flat();
        if (missing.length > 0) throw new Error(`missing: ${JSON.stringify(missing.slice(0, 5))}`);
      },
      { withinMs, message: "not every change has become a Peer" },
    );
    return this.#arrivals;
  }

  get changes(): number {
    return this.#changes;
  }

  #change(): Promise<unknown> {
    const number = this.#changes++;
    const source = number % this.#clients.length;
    const index = Math.floor(number / this.#clients.length) % this.#nodesEach;
    const [name, port] = [nodeNameOf(source, index), firstPort + number];
    const sinceMs = performance.now();
    for (const target of this.#clients.keys()) {
      const key = `${target} ${name}`;
      if (target !== source)
        this.#awaited.set(key, [...(this.#awaited.get(key) ?? []), { source, target, port, sinceMs }]);
    }
    const endpoint = { [nodeAnnotations.forceEndpoint]: `198.18.${source}.${index + 1}:${port}` };
    const body = { metadata: { annotations: endpoint } };
    return this.#clients[source]?.patch(nodes, { name }, { body }) ?? Promise.resolve();
  }

  #seen(target: number, { node, port }: SeenPeer): void {
    const key = `${target} ${node}`;
    const waiting = this.#awaited.get(key) ?? [];
    const arrived = waiting.filter((one) => one.port <= port);
    const now = performance.now();
    for (const { source, sinceMs } of arrived) this.#arrivals.push({ source, target, ms: now - sinceMs });
    this.#awaited.set(
      key,
      waiting.filter((one) => one.port > port),
    );
  }
}

function seenOf({ metadata, spec }: PeerObject): SeenPeer {
  return { node: metadata.annotations?.[annotations.node] ?? "", port: spec.endpoint?.port ?? 0 };
}
