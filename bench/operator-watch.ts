import { type PeerObject, peers } from "../src/api/kilo-peer.ts";
import { annotations, labels } from "../src/api/names.ts";
import { type Change, Informer } from "../src/kube/informer.ts";
import { systemClock } from "../src/runtime/clock.ts";
import { silentLogger } from "../src/runtime/log.ts";
import { type BenchCluster, serviceCidrOf } from "./operator-mesh.ts";

/** What the driver looks at in a Peer. */
export interface SeenPeer {
  readonly name: string;
  readonly node: string;
  readonly source: string;
  readonly port: number | undefined;
  readonly allowedIps: readonly string[];
}

type Test = (peer: SeenPeer | undefined) => boolean;

interface Waiter {
  readonly test: Test;
  readonly seen: (atMs: number) => void;
}

const withinMs = 120_000;

/** Watches the Peers of every cluster, as nobody but the driver of the benchmark needs to. */
export class PeerWatch {
  readonly #clusters: readonly BenchCluster[];
  readonly #informers: readonly Informer<PeerObject, SeenPeer>[];
  /** By cluster and node. */
  readonly #waiting = new Map<string, Set<Waiter>>();
  readonly #counting = new Set<() => void>();
  /** Which Peer carries a source's service network in a target. */
  readonly #carriers = new Map<string, string>();
  #carrierMoves = 0;

  constructor(clusters: readonly BenchCluster[]) {
    this.#clusters = clusters;
    const options = { resource: peers, decode: seenOf, same: () => false, clock: systemClock, log: silentLogger };
    this.#informers = clusters.map(({ admin }) => new Informer({ ...options, client: admin }));
  }

  async start(): Promise<void> {
    const listed = this.#informers.map((informer, target) => {
      informer.onChange((change) => this.#changed(target, change));
      return new Promise<void>((resolve) => {
        informer.onListed(resolve);
        informer.start();
      });
    });
    await Promise.all(listed);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#informers.map((informer) => informer.stop()));
  }

  /** How often another Peer than before carried a network, or none at all, since the last call of `forgetCarriers`. */
  get carrierMoves(): number {
    return this.#carrierMoves;
  }

  /** For a mesh that starts over. */
  forgetCarriers(): void {
    this.#carriers.clear();
    this.#carrierMoves = 0;
  }

  /** When the last cluster came to hold exactly so many Peers, and every service network had its carrier. */
  untilEachHolds(count: number): Promise<number> {
    const pairs = this.#clusters.length * (this.#clusters.length - 1);
    return bounded(`${count} Peers in every cluster`, (seen) => {
      const look = (): void => {
        if (this.#informers.some(({ size }) => size !== count)) return;
        if (count > 0 && this.#carriers.size < pairs) return;
        this.#counting.delete(look);
        seen(performance.now());
      };
      this.#counting.add(look);
      look();
    });
  }

  /** When any cluster came to hold its first Peer. */
  untilSome(): Promise<number> {
    return bounded("the first Peer", (seen) => {
      const look = (): void => {
        if (this.#informers.every(({ size }) => size === 0)) return;
        this.#counting.delete(look);
        seen(performance.now());
      };
      this.#counting.add(look);
    });
  }

  /** When the Peer of a node was as wanted in the last of the other clusters. */
  async untilOthers(source: number, node: string, test: Test): Promise<number> {
    const times = this.#clusters.flatMap((_, target) =>
      target === source ? [] : [bounded(node, (seen) => this.#wait(`${target} ${node}`, { test, seen }))],
    );
    return Math.max(...(await Promise.all(times)));
  }

  #wait(key: string, waiter: Waiter): void {
    const waiters = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, waiters.add(waiter));
  }

  #changed(target: number, { before, after }: Change<SeenPeer>): void {
    const peer = after ?? before;
    if (!peer) return;
    const key = `${target} ${peer.node}`;
    for (const waiter of this.#waiting.get(key) ?? []) {
      if (!waiter.test(after)) continue;
      this.#waiting.get(key)?.delete(waiter);
      waiter.seen(performance.now());
    }
    this.#noteCarrier(target, peer, after !== undefined);
    for (const look of [...this.#counting]) look();
  }

  #noteCarrier(target: number, peer: SeenPeer, isThere: boolean): void {
    const source = this.#clusters.findIndex(({ name }) => name === peer.source);
    if (source < 0) return;
    const pair = `${source} ${target}`;
    const carries = isThere && peer.allowedIps.includes(serviceCidrOf(source));
    const holder = this.#carriers.get(pair);
    if (carries === (holder === peer.name)) return;
    if (holder !== undefined) this.#tellMove(target, peer, carries);
    this.#carriers.set(pair, carries ? peer.name : "");
  }

  #tellMove(target: number, { name, source }: SeenPeer, carries: boolean): void {
    this.#carrierMoves++;
    const what = carries ? "now carries" : "no longer carries";
    process.stderr.write(`in ${this.#clusters[target]?.name}, ${name} ${what} the service network of ${source}\n`);
  }
}

function seenOf({ metadata, spec }: PeerObject): SeenPeer {
  return {
    name: metadata.name,
    node: metadata.annotations?.[annotations.node] ?? "",
    source: metadata.labels?.[labels.source] ?? "",
    port: spec.endpoint?.port,
    allowedIps: spec.allowedIPs,
  };
}

function bounded(what: string, begin: (seen: (atMs: number) => void) => void): Promise<number> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${what}: not seen within ${withinMs / 1000} s`)), withinMs);
    begin((atMs) => {
      clearTimeout(timer);
      resolve(atMs);
    });
  });
}
