import { type NodeObject, nodes, readNode } from "../api/kilo-node.ts";
import { type Observed, parseDiscovered } from "../core/discovered.ts";
import type { Endpoint } from "../core/endpoint.ts";
import { type NodeName, nodeName } from "../core/ids.ts";
import { type NodeRecord, sameGround, sameNodeFacts, sameNodeRecord } from "../core/node.ts";
import { rememberedEach } from "../core/remembered.ts";
import type { ClusterView } from "../core/world.ts";
import type { KubeClient } from "../kube/client.ts";
import { type Change, Informer } from "../kube/informer.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Logger } from "../runtime/log.ts";
import { Departures, type Moment } from "./departures.ts";
import { observation } from "./observation.ts";
import { SilentNodes, sweepEveryMs } from "./silent-nodes.ts";
import { StrippedNodes } from "./stripped-nodes.ts";

/** `ground`: a node changed, and with it what no route in its own cluster may cover; `observed`: what nodes say of others. */
export type NodesChange = "node" | "ground" | "observed";

export interface WatchedOptions<Change> {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly onChange: (change: Change) => void;
  /** Ends what waits. */
  readonly signal: AbortSignal;
}

type NodesView = Pick<ClusterView, "nodes" | "departures" | "observed" | "strippedMs" | "silent" | "absenceProven">;

/** The Nodes of one cluster, and everything that only time tells about them: who left, who is silent, who lost what. */
export class WatchedNodes {
  readonly informer: Informer<NodeObject, NodeRecord>;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #onChange: (change: NodesChange) => void;
  readonly #departures = new Departures();
  readonly #stripped = new StrippedNodes();
  readonly #silent = new SilentNodes();
  readonly #factsIn = rememberedEach(({ facts }: NodeRecord) => facts);
  readonly #observed = new Map<NodeName, ReadonlyMap<string, Endpoint>>();
  /** The same as plans see it; absent when it changed since. */
  #observedNow: Observed | undefined;
  #proving = false;

  constructor({ client, clock, log, onChange, signal }: WatchedOptions<NodesChange>) {
    this.#clock = clock;
    this.#signal = signal;
    this.#onChange = onChange;
    const decode = (node: NodeObject): NodeRecord => this.#withKnownFacts(readNode(node));
    this.informer = new Informer({ client, clock, log, resource: nodes, decode, same: sameNodeRecord });
    this.informer.onListed(() => this.#listed());
    this.informer.onChange((change) => this.#changed(change));
  }

  start(): void {
    this.informer.start();
    this.#sweep().catch(() => undefined);
  }

  view(): NodesView {
    this.#observedNow ??= new Map(this.#observed);
    return {
      nodes: observation(this.informer.knowledge, this.#factsIn(this.informer.facts())),
      departures: this.#departures.current(this.#moment()),
      observed: this.#observedNow,
      strippedMs: this.#stripped.agesMs(this.#clock.now()),
      silent: this.#silent.current,
      absenceProven: this.#departures.absenceProven,
    };
  }

  /** Something is held until an absence is proven: lists once more when that can prove it. At most one is under way. */
  proveAbsence(): void {
    const dueMs = this.#departures.listDueMs(this.#moment());
    if (this.#proving || dueMs === undefined) return;
    this.#proving = true;
    const waitMs = Math.max(0, dueMs - this.#clock.now());
    this.#clock.sleep(waitMs, this.#signal).then(
      () => {
        this.#proving = false;
        this.informer.relist();
      },
      () => undefined,
    );
  }

  /** Ends when the connection is stopped. */
  async #sweep(): Promise<never> {
    const heardAtMs = (name: NodeName): number | undefined => this.informer.heardAt(name);
    for (;;) {
      const beforeMs = this.#clock.now();
      await this.#clock.sleep(sweepEveryMs, this.#signal);
      const nowMs = this.#clock.now();
      // Who has slept too long has not heard yet what was said meanwhile.
      if (this.informer.knowledge.state !== "known" || nowMs - beforeMs > 2 * sweepEveryMs) continue;
      if (this.#silent.sweep({ nodes: this.informer.facts(), heardAtMs, nowMs })) this.#onChange("node");
    }
  }

  #listed(): void {
    this.#departures.listed(this.#clock.now());
    this.#onChange("node");
  }

  #changed({ key, before, after, gone }: Change<NodeRecord>): void {
    const name: NodeName = nodeName(key);
    if (before?.discovered !== after?.discovered) this.#observe(name, after?.discovered ?? "");
    this.#stripped.changed(name, after?.facts, this.#clock.now());
    if (after) this.#departures.returned(name);
    else this.#departures.left(name, gone ?? "absent", this.#moment());
    if (before?.facts !== after?.facts) this.#onChange(sameGround(before?.facts, after?.facts) ? "node" : "ground");
  }

  #observe(name: NodeName, discovered: string): void {
    const found = parseDiscovered(discovered);
    if (found.size > 0) this.#observed.set(name, found);
    else this.#observed.delete(name);
    this.#observedNow = undefined;
    this.#onChange("observed");
  }

  /** What a node says of others, or of its life, leaves its facts the same object: plans go on from them. */
  #withKnownFacts(record: NodeRecord): NodeRecord {
    const known = this.informer.get(record.facts.name)?.facts;
    return known && sameNodeFacts(known, record.facts) ? { ...record, facts: known } : record;
  }

  #moment(): Moment {
    return { nowMs: this.#clock.now(), streamsEnded: this.informer.streamsEnded };
  }
}
