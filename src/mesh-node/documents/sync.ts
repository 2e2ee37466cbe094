import type { Clock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/log.ts";
import type { Link, LinkHandler } from "../links/link.ts";
import { decodeFrame, type Frame } from "./frames.ts";
import type { DocumentStore } from "./open-documents.ts";
import { PeerSync, UpdateOrigin } from "./peer-sync.ts";
import type { DocumentKey } from "./version.ts";
import type { Published } from "./version-store.ts";

export interface SyncOptions {
  readonly store: DocumentStore;
  readonly clock: Clock;
  readonly log: Logger;
  /** How often linked nodes compare what they have, beside telling each other every change. Default 60 s. */
  readonly compareEveryMs?: number;
  readonly random?: () => number;
}

export interface SyncStats {
  readonly framesSent: number;
  readonly framesReceived: number;
  /** Documents or changes of documents that arrived and were new. */
  readonly merged: number;
  /** Documents that are being reconciled with some peer now. */
  readonly reconciling: number;
}

/** Keeps the documents of linked nodes the same. Give it to the manager as the handler of its links. */
export interface Sync extends LinkHandler {
  stats(): SyncStats;
  /** Stops comparing and telling. Links are not closed. */
  close(): Promise<void>;
}

/** So long after a link was lost everything that was under way then has arrived. */
const settleMs = 2000;

export function createSync(options: SyncOptions): Sync {
  return new DocumentSync(options);
}

class DocumentSync implements Sync {
  readonly #options: SyncOptions;
  readonly #peers = new Map<Link, PeerSync>();
  /** Which peer was asked for a document, so that not every peer is. */
  readonly #asked = new Map<DocumentKey, PeerSync>();
  readonly #ending = new AbortController();
  #settling = false;
  readonly #unsubscribe: () => void;
  readonly #comparing: Promise<void>;
  readonly #count = { framesSent: 0, framesReceived: 0, merged: 0 };

  constructor(options: SyncOptions) {
    this.#options = options;
    this.#unsubscribe = options.store.versions.onPublished((published) => this.#tell(published));
    this.#comparing = this.#compare();
  }

  up(link: Link): void {
    const peer = new PeerSync(link, {
      store: this.#options.store,
      clock: this.#options.clock,
      log: this.#options.log.with({ peer: link.peer }),
      told: () => Array.from(this.#peers.values(), ({ mark }) => mark),
      asked: this.#asked,
      count: this.#count,
    });
    this.#peers.set(link, peer);
    peer.announce();
  }

  async receive(link: Link, bytes: Uint8Array): Promise<void> {
    const peer = this.#peers.get(link);
    if (!peer) return;
    this.#count.framesReceived++;
    const frame: Frame = decodeFrame(bytes);
    await peer.receive(frame);
  }

  down(link: Link): void {
    const peer = this.#peers.get(link);
    this.#peers.delete(link);
    peer?.end();
    if (!peer) return;
    this.#forgetAsked(peer);
    this.#announce();
    this.#announceAgain().catch(() => undefined);
  }

  stats(): SyncStats {
    let reconciling = 0;
    for (const peer of this.#peers.values()) reconciling += peer.reconciling;
    return { ...this.#count, reconciling };
  }

  async close(): Promise<void> {
    this.#ending.abort();
    this.#unsubscribe();
    for (const link of [...this.#peers.keys()]) this.down(link);
    await this.#comparing;
  }

  /** Every peer but the one that brought it and those whom that one tells itself. */
  #tell({ key, before, after, origin }: Published): void {
    if (!after) return;
    const from = origin instanceof UpdateOrigin ? origin : undefined;
    const isSameLife = before?.kind === "live" && after.kind === "live" && before.generation === after.generation;
    const base = isSameLife ? before.heads : [];
    for (const peer of this.#peers.values()) {
      if (!isSameLife) peer.lifeOver(key);
      if (peer === from?.peer || from?.told.has(peer.mark)) continue;
      peer.changed(key, { generation: after.generation, base });
    }
  }

  async #compare(): Promise<void> {
    const { clock, compareEveryMs = 60_000, random = Math.random } = this.#options;
    const { signal } = this.#ending;
    while (!signal.aborted) {
      try {
        await clock.sleep(compareEveryMs * (0.75 + random() / 2), signal);
      } catch {
        return;
      }
      this.#asked.clear();
      for (const peer of this.#peers.values()) peer.compareAgain();
    }
  }

  #announce(): void {
    for (const peer of this.#peers.values()) peer.announce();
  }

  /** What was told to a peer that was lost on the way, nobody was told to pass on; it may still be on its way to the others. */
  async #announceAgain(): Promise<void> {
    if (this.#settling) return;
    this.#settling = true;
    await this.#options.clock.sleep(settleMs, this.#ending.signal);
    this.#settling = false;
    this.#announce();
  }

  #forgetAsked(peer: PeerSync): void {
    for (const [key, asked] of this.#asked) if (asked === peer) this.#asked.delete(key);
  }
}
