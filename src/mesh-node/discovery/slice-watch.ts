import type { KubeClient } from "../../kube/client.ts";
import { type ConnectionConfig, connectionId } from "../../kube/connection-config.ts";
import { createClient } from "../../kube/http-client.ts";
import { Informer, type Knowledge } from "../../kube/informer.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/log.ts";
import { type EndpointSlice, endpointSlices, readSlice, type SliceFacts, sameSlice } from "./slice-facts.ts";

export interface SliceWatchOptions {
  readonly config: ConnectionConfig;
  readonly namespace: string;
  readonly labelSelector: string;
  readonly annotationPrefix: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  /** Told when a slice changed, and after every complete list. */
  readonly onChange: () => void;
  readonly onKnowledge: (knowledge: Knowledge) => void;
}

/** One quiet watch per node: coming back soon after an outage costs the server little. */
const backoff = { firstMs: 200, maxMs: 10_000 };

/** The EndpointSlices that one connection shows. A connection that moved gets another one. */
export class SliceWatch {
  readonly client: KubeClient;
  readonly #connection: string;
  readonly #informer: Informer<EndpointSlice, SliceFacts>;
  #listsWhenAsked = 0;

  constructor(options: SliceWatchOptions) {
    const { config, annotationPrefix, onChange, onKnowledge, log, ...selection } = options;
    this.#connection = connectionId(config);
    this.client = createClient(config, { cluster: "kubernetes", userAgent: "mesh-node" });
    this.#informer = new Informer({
      ...selection,
      client: this.client,
      resource: endpointSlices,
      decode: (slice) => readSlice(slice, annotationPrefix),
      same: sameSlice,
      backoff,
      log: withoutNews(log),
    });
    this.#informer.onChange(onChange);
    this.#informer.onListed(onChange);
    this.#informer.onKnowledge(onKnowledge);
  }

  start(): void {
    this.#informer.start();
  }

  async stop(): Promise<void> {
    await this.#informer.stop();
    this.client.close();
  }

  /** Whether the slices were ever read as a whole. Before that their absence means nothing. */
  get isListed(): boolean {
    return this.#informer.listCount > 0;
  }

  get knowledge(): Knowledge {
    return this.#informer.knowledge;
  }

  slices(): readonly SliceFacts[] {
    return this.#informer.facts();
  }

  /** Takes the answer of our own write in. */
  learn(slice: EndpointSlice): void {
    this.#informer.learn(slice);
  }

  /**
   * Lists again if all is well. Not while a list that was asked for is still owed, nor during an outage: asking would
   * cut short the pause that the server may have asked for.
   */
  relistIfWell(): void {
    const { listCount, knowledge } = this.#informer;
    if (knowledge.state !== "known" || listCount <= this.#listsWhenAsked) return;
    this.#listsWhenAsked = listCount;
    this.#informer.relist();
  }

  /** Whether `config` leads to the same server in the same way. */
  isConnectedBy(config: ConnectionConfig): boolean {
    return connectionId(config) === this.#connection;
  }
}

/** What becomes known and unknown is told by discovery itself, in its own words. */
function withoutNews(log: Logger): Logger {
  return {
    debug: (message, fields) => log.debug(message, fields),
    info: (message, fields) => log.debug(message, fields),
    warn: (message, fields) => log.debug(message, fields),
    error: (message, fields) => log.error(message, fields),
    with: (fields) => withoutNews(log.with(fields)),
  };
}
