import { nodes } from "../api/kilo-node.ts";
import { type PeerObject, peers } from "../api/kilo-peer.ts";
import type { ConnectionId, NodeName, PeerName } from "../core/ids.ts";
import type { UnknownReason } from "../core/reasons.ts";
import type { ClusterView } from "../core/world.ts";
import type { KubeClient } from "../kube/client.ts";
import { type ConnectionConfig, trustOf } from "../kube/connection-config.ts";
import { type CredentialExpiry, credentialExpiry } from "../kube/credential-expiry.ts";
import type { Knowledge } from "../kube/knowledge.ts";
import { type Resource, resourceText } from "../kube/resource.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Logger } from "../runtime/log.ts";
import { observation } from "./observation.ts";
import { betweenLooksMs, Paced } from "./paced.ts";
import { type ConnectionSummary, informerSummary } from "./summary.ts";
import { type NodesChange, WatchedNodes } from "./watched-nodes.ts";
import { type JudgedPeer, type PeersChange, WatchedPeers } from "./watched-peers.ts";

/** What happened in a cluster. */
export type ClusterChange = NodesChange | PeersChange | "knowledge";

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
  readonly #credential: CredentialExpiry | undefined;
  readonly #onChange: (change: ClusterChange) => void;
  readonly #log: Logger;
  readonly #nodes: WatchedNodes;
  readonly #peers: WatchedPeers;
  readonly #freshLook: Paced;
  readonly #stopped = new AbortController();
  /** What the log last said of our knowledge. */
  #told = "";
  #polled: readonly string[] = [];

  constructor({ id, client, clock, log, onChange, config }: ConnectionOptions) {
    this.id = id;
    this.client = client;
    this.host = new URL(config.server).hostname.replace(/^\[|\]$/g, "");
    this.#trust = trustOf(config);
    this.#credential = credentialExpiry(config);
    this.#onChange = onChange;
    this.#log = log;
    const { signal } = this.#stopped;
    this.#nodes = new WatchedNodes({ client, clock, log, onChange, signal });
    this.#peers = new WatchedPeers({ client, clock, log, onChange });
    this.#freshLook = new Paced({ clock, betweenMs: betweenLooksMs, signal, act: () => this.#relistAll() });
    for (const { informer } of [this.#nodes, this.#peers]) informer.onKnowledge(() => this.#knowledgeChanged());
  }

  start(): void {
    this.#nodes.start();
    this.#peers.informer.start();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all([this.#nodes.informer.stop(), this.#peers.informer.stop()]);
  }

  /** Lists everything anew, at once: what waits for a retry does not wait any longer. Again only after a while. */
  relist(): void {
    this.#freshLook.ask();
  }

  relistPeers(): void {
    this.#peers.informer.relist();
  }

  /** Something is held until an absence is proven: lists once more when that can prove it. */
  proveAbsence(): void {
    this.#nodes.proveAbsence();
  }

  /** The cluster at this moment, from memory. */
  view(): ClusterView {
    return {
      ...this.#nodes.view(),
      ...this.#peers.view(),
      ...credentialFacts(this.#credential),
      ...(this.#trust !== undefined && { trust: this.#trust }),
      ...(this.#polled.length > 0 && { polled: this.#polled }),
    };
  }

  /** Why nodes or Peers are unknown; undefined when both are known. */
  get unknown(): UnknownReason | undefined {
    const [seenNodes, seenPeers] = this.#seen();
    const unknown = seenNodes.state === "unknown" ? seenNodes : seenPeers;
    return unknown.state === "unknown" ? unknown.reason : undefined;
  }

  /** The same in numbers. */
  summary(): ConnectionSummary {
    const [seenNodes, seenPeers] = this.#seen();
    return {
      id: this.id,
      unknown: this.unknown,
      nodes: seenNodes.state === "known" ? this.#nodes.informer.size : undefined,
      peers: seenPeers.state === "known" ? this.#peers.counts : undefined,
      credential: this.#credential,
      informers: [informerSummary(nodes, this.#nodes.informer), informerSummary(peers, this.#peers.informer)],
    };
  }

  /** The version of a Node that our view of it is made from. */
  nodeVersion(name: NodeName): string | undefined {
    return this.#nodes.informer.versionOf(name);
  }

  peer(name: string): PeerObject | undefined {
    return this.#peers.get(name);
  }

  writePeer(name: PeerName, write: () => Promise<PeerObject>): Promise<void> {
    return this.#peers.write(name, write);
  }

  deletePeer(judged: JudgedPeer, remove: () => Promise<void>): Promise<void> {
    return this.#peers.delete(judged, remove);
  }

  #relistAll(): void {
    this.#nodes.informer.relist();
    this.relistPeers();
  }

  #seen() {
    const { knowledge } = this.#peers.informer;
    return [observation(this.#nodes.informer.knowledge, []), observation(knowledge, [], "PeerCRDMissing")] as const;
  }

  #knowledgeChanged(): void {
    const polled = [polledIn(this.#nodes.informer.knowledge, nodes), polledIn(this.#peers.informer.knowledge, peers)];
    this.#polled = polled.flat();
    const text = this.unknown ?? "known";
    if (text !== this.#told) this.#tell(text);
    this.#told = text;
    this.#onChange("knowledge");
  }

  #tell(text: string): void {
    const counts = { nodes: this.#nodes.informer.size, peers: this.#peers.informer.size };
    if (text === "known") this.#log.info("cluster known", counts);
    else if (text !== "Connecting" && !this.#stopped.signal.aborted)
      this.#log.warn("cluster unknown", { reason: text });
  }
}

const polledIn = (knowledge: Knowledge, resource: Resource): string[] =>
  knowledge.state === "known" && knowledge.polling ? [resourceText(resource)] : [];

function credentialFacts(credential: CredentialExpiry | undefined) {
  if (!credential) return {};
  const { atMs, lifetimeMs } = credential;
  return { credentialEndsAtMs: atMs, ...(lifetimeMs !== undefined && { credentialLifetimeMs: lifetimeMs }) };
}
