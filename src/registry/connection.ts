import { type NodeObject, nodes, readNode } from "../api/kilo-node.ts";
import { objectOf, type PeerObject, peers, readPeer, sameVersion } from "../api/kilo-peer.ts";
import { type Observed, parseDiscovered } from "../core/discovered.ts";
import type { Endpoint } from "../core/endpoint.ts";
import { type ConnectionId, type NodeName, nodeName, type PeerName } from "../core/ids.ts";
import { type NodeRecord, sameGround, sameNodeFacts, sameNodeRecord } from "../core/node.ts";
import type { HeldPeer } from "../core/peer.ts";
import type { UnknownReason } from "../core/reasons.ts";
import { rememberedEach } from "../core/remembered.ts";
import type { ClusterView, Observation } from "../core/world.ts";
import type { KubeClient } from "../kube/client.ts";
import { type ConnectionConfig, trustOf } from "../kube/connection-config.ts";
import { type CredentialExpiry, credentialExpiry } from "../kube/credential-expiry.ts";
import { isKubeError } from "../kube/errors.ts";
import { type Change, Informer } from "../kube/informer.ts";
import type { Knowledge } from "../kube/knowledge.ts";
import { type Resource, resourceText } from "../kube/resource.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Logger } from "../runtime/log.ts";
import { Departures, type Moment } from "./departures.ts";
import { betweenLooksMs, Paced } from "./paced.ts";
import { PeerAges } from "./peer-ages.ts";
import { SilentNodes, sweepEveryMs } from "./silent-nodes.ts";
import { StrippedNodes } from "./stripped-nodes.ts";
import { type ConnectionSummary, informerSummary, PeerCounts } from "./summary.ts";

/**
 * What happened in a cluster; `ground`: to a node, and with it to what no route in its own cluster may cover; `written`: to a
 * Peer that we are just writing.
 */
export type ClusterChange = "node" | "ground" | "observed" | "peer" | "written" | "knowledge";

export interface ConnectionOptions {
  readonly id: ConnectionId;
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly onChange: (change: ClusterChange) => void;
  /** What the client was made from. */
  readonly config: ConnectionConfig;
}

/** One connected cluster: its Nodes and Peers in memory, and whether we know them. */
export class Connection {
  readonly id: ConnectionId;
  readonly client: KubeClient;
  /** Of its API server, without the brackets of an IPv6 address. */
  readonly host: string;
  readonly #trust: string | undefined;
  readonly #clock: Clock;
  readonly #onChange: (change: ClusterChange) => void;
  readonly #nodes: Informer<NodeObject, NodeRecord>;
  readonly #peers: Informer<PeerObject, HeldPeer>;
  readonly #departures = new Departures();
  readonly #stripped = new StrippedNodes();
  readonly #silent = new SilentNodes();
  readonly #factsIn = rememberedEach(({ facts }: NodeRecord) => facts);
  readonly #beingWritten = new Set<PeerName>();
  readonly #peerAges = new PeerAges();
  readonly #peerCounts = new PeerCounts();
  readonly #credential: CredentialExpiry | undefined;
  readonly #observed = new Map<NodeName, ReadonlyMap<string, Endpoint>>();
  /** The same as plans see it; absent when it changed since. */
  #observedNow: Observed | undefined;
  readonly #stopped = new AbortController();
  readonly #log: Logger;
  /** What the log last said of our knowledge. */
  #told = "";
  #proving = false;
  #polled: readonly string[] = [];
  #forbiddenAtMs: number | undefined;
  readonly #freshLook: Paced;

  constructor({ id, client, clock, log, onChange, config }: ConnectionOptions) {
    this.id = id;
    this.host = new URL(config.server).hostname.replace(/^\[|\]$/g, "");
    this.#trust = trustOf(config);
    this.#credential = credentialExpiry(config);
    this.client = client;
    this.#clock = clock;
    this.#onChange = onChange;
    this.#log = log;
    const shared = { client, clock, log };
    const decode = (node: NodeObject): NodeRecord => this.#withKnownFacts(readNode(node));
    this.#nodes = new Informer({ ...shared, resource: nodes, decode, same: sameNodeRecord });
    this.#peers = new Informer({ ...shared, resource: peers, decode: readPeer, same: sameVersion });
    const listAll = () => {
      this.#nodes.relist();
      this.relistPeers();
    };
    this.#freshLook = new Paced({ clock, betweenMs: betweenLooksMs, signal: this.#stopped.signal, act: listAll });
    this.#nodes.onListed(() => this.#listed());
    this.#nodes.onChange((change) => this.#nodeChanged(change));
    this.#peers.onChange(({ key, before, after }) => {
      this.#peerAges.changed(key as PeerName, after, clock.now());
      this.#peerCounts.changed(before, after);
      onChange(this.#beingWritten.has(key as PeerName) ? "written" : "peer");
    });
    for (const informer of [this.#nodes, this.#peers]) informer.onKnowledge(() => this.#knowledgeChanged());
  }

  start(): void {
    this.#nodes.start();
    this.#peers.start();
    this.#sweep().catch(() => undefined);
  }

  /** Lists everything anew, at once: what waits for a retry does not wait any longer. Again only after a while. */
  relist(): void {
    this.#freshLook.ask();
  }

  relistPeers(): void {
    this.#peers.relist();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all([this.#nodes.stop(), this.#peers.stop()]);
  }

  /** The cluster at this moment, from memory. */
  view(): ClusterView {
    this.#observedNow ??= new Map(this.#observed);
    return {
      nodes: observation(this.#nodes.knowledge, this.#factsIn(this.#nodes.facts())),
      peers: observation(this.#peers.knowledge, this.#peers.facts(), "PeerCRDMissing"),
      departures: this.#departures.current(this.#moment()),
      observed: this.#observedNow,
      moveAgesMs: this.#peerAges.moveAgesMs(this.#clock.now()),
      endpointAgesMs: this.#peerAges.endpointAgesMs(this.#clock.now()),
      strippedMs: this.#stripped.agesMs(this.#clock.now()),
      silent: this.#silent.current,
      absenceProven: this.#departures.absenceProven,
      ...credentialFacts(this.#credential),
      ...(this.#forbiddenAtMs !== undefined && { forbiddenAtMs: this.#forbiddenAtMs }),
      ...(this.#trust !== undefined && { trust: this.#trust }),
      ...(this.#polled.length > 0 && { polled: this.#polled }),
    };
  }

  /** Why nodes or Peers are unknown; undefined when both are known. */
  get unknown(): UnknownReason | undefined {
    const seen = [observation(this.#nodes.knowledge, []), observation(this.#peers.knowledge, [], "PeerCRDMissing")];
    const unknown = seen.find(({ state }) => state === "unknown");
    return unknown?.state === "unknown" ? unknown.reason : undefined;
  }

  /** The same in numbers. */
  summary(): ConnectionSummary {
    const seenNodes = observation(this.#nodes.knowledge, []);
    const seenPeers = observation(this.#peers.knowledge, [], "PeerCRDMissing");
    return {
      id: this.id,
      unknown: this.unknown,
      nodes: seenNodes.state === "known" ? this.#nodes.size : undefined,
      peers: seenPeers.state === "known" ? this.#peerCounts.current : undefined,
      credential: this.#credential,
      informers: [informerSummary(nodes, this.#nodes), informerSummary(peers, this.#peers)],
    };
  }

  peer(name: string): PeerObject | undefined {
    const held = this.#peers.get(name);
    return held && objectOf(held);
  }

  /**
   * Writes a Peer and takes the answer into the store, so that the next plan sees it. What the watch tells of that Peer
   * meanwhile is taken for the same: it is often faster than the answer.
   */
  async writePeer(name: PeerName, write: () => Promise<PeerObject>): Promise<void> {
    await this.#writing(name, async () => this.#learn(await write()));
  }

  async deletePeer(name: PeerName, remove: () => Promise<void>): Promise<void> {
    await this.#writing(name, async () => {
      await remove();
      this.#peers.learnDeleted({ name });
    });
  }

  async #writing(name: PeerName, write: () => Promise<void>): Promise<void> {
    this.#beingWritten.add(name);
    try {
      await write();
      this.#forbiddenAtMs = undefined;
    } catch (error) {
      if (isKubeError(error, "forbidden")) this.#forbiddenAtMs = this.#clock.now();
      throw error;
    } finally {
      this.#beingWritten.delete(name);
    }
  }

  #learn(object: PeerObject): void {
    this.#peers.learn(object);
    const held = this.#peers.get(object.metadata.name) ?? readPeer(object);
    if (held.resourceVersion === object.metadata.resourceVersion) this.#peerAges.wrote(held, this.#clock.now());
  }

  /** Something is held until an absence is proven: lists once more when that can prove it. At most one is under way. */
  proveAbsence(): void {
    const dueMs = this.#departures.listDueMs(this.#moment());
    if (this.#proving || dueMs === undefined) return;
    this.#proving = true;
    const waitMs = Math.max(0, dueMs - this.#clock.now());
    this.#clock.sleep(waitMs, this.#stopped.signal).then(
      () => {
        this.#proving = false;
        this.#nodes.relist();
      },
      () => undefined,
    );
  }

  #knowledgeChanged(): void {
    this.#polled = [...polledIn(this.#nodes.knowledge, nodes), ...polledIn(this.#peers.knowledge, peers)];
    const text = this.unknown ?? "known";
    if (text !== this.#told) this.#tell(text);
    this.#told = text;
    this.#onChange("knowledge");
  }

  #tell(text: string): void {
    const counts = { nodes: this.#nodes.size, peers: this.#peers.size };
    if (text === "known") this.#log.info("cluster known", counts);
    else if (text !== "Connecting" && !this.#stopped.signal.aborted)
      this.#log.warn("cluster unknown", { reason: text });
  }

  /** Ends when the connection is stopped. */
  async #sweep(): Promise<never> {
    const heardAtMs = (name: NodeName): number | undefined => this.#nodes.heardAt(name);
    for (;;) {
      const beforeMs = this.#clock.now();
      await this.#clock.sleep(sweepEveryMs, this.#stopped.signal);
      const nowMs = this.#clock.now();
      // Who has slept too long has not heard yet what was said meanwhile.
      if (this.#nodes.knowledge.state !== "known" || nowMs - beforeMs > 2 * sweepEveryMs) continue;
      if (this.#silent.sweep({ nodes: this.#nodes.facts(), heardAtMs, nowMs })) this.#onChange("node");
    }
  }

  #observe(name: NodeName, discovered: string): void {
    const found = parseDiscovered(discovered);
    if (found.size > 0) this.#observed.set(name, found);
    else this.#observed.delete(name);
    this.#observedNow = undefined;
    this.#onChange("observed");
  }

  #moment(): Moment {
    return { nowMs: this.#clock.now(), streamsEnded: this.#nodes.streamsEnded };
  }

  #listed(): void {
    this.#departures.listed(this.#clock.now());
    this.#onChange("node");
  }

  /** What a node says of others, or of its life, leaves its facts the same object: plans go on from them. */
  #withKnownFacts(record: NodeRecord): NodeRecord {
    const known = this.#nodes.get(record.facts.name)?.facts;
    return known && sameNodeFacts(known, record.facts) ? { ...record, facts: known } : record;
  }

  #nodeChanged({ key, before, after, gone }: Change<NodeRecord>): void {
    const name: NodeName = nodeName(key);
    if (before?.discovered !== after?.discovered) this.#observe(name, after?.discovered ?? "");
    this.#stripped.changed(name, after?.facts, this.#clock.now());
    if (after) this.#departures.returned(name);
    else this.#departures.left(name, gone ?? "absent", this.#moment());
    if (before?.facts !== after?.facts) this.#onChange(sameGround(before?.facts, after?.facts) ? "node" : "ground");
  }
}

const polledIn = (knowledge: Knowledge, resource: Resource): string[] =>
  knowledge.state === "known" && knowledge.polling ? [resourceText(resource)] : [];

function credentialFacts(credential: CredentialExpiry | undefined) {
  if (!credential) return {};
  const { atMs, lifetimeMs } = credential;
  return { credentialEndsAtMs: atMs, ...(lifetimeMs !== undefined && { credentialLifetimeMs: lifetimeMs }) };
}

function observation<T>(knowledge: Knowledge, items: readonly T[], notFound?: UnknownReason): Observation<T> {
  if (knowledge.state === "known") return { state: "known", items };
  const reason = unknownReason(knowledge.reason, notFound);
  return knowledge.error ? { state: "unknown", reason, detail: knowledge.error.message } : { state: "unknown", reason };
}

function unknownReason(reason: string, notFound: UnknownReason = "Unreachable"): UnknownReason {
  if (reason === "not-yet-listed") return "Connecting";
  if (reason === "unauthorized") return "Unauthorized";
  if (reason === "forbidden") return "Forbidden";
  return reason === "not-found" ? notFound : "Unreachable";
}
