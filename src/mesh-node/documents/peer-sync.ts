import type { Clock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/log.ts";
import { type Link, maxFrameBytes } from "../links/link.ts";
import { hasHeads } from "./automerge.ts";
import { bucketOf } from "./digest.ts";
import { DocumentError } from "./documents.ts";
import type { RemoteVersion } from "./edit.ts";
import { type Entry, encodeFrame, type Frame, type PeerMark, type Want } from "./frames.ts";
import type { DocumentStore } from "./open-documents.ts";
import { Outbox } from "./outbox.ts";
import { createPace, type Pace } from "./pace.ts";
import { type DocumentKey, type Heads, type LiveVersion, relationOf, sameHeads } from "./version.ts";

/** What the peers of one node share. */
export interface Round {
  readonly store: DocumentStore;
  readonly clock: Clock;
  readonly log: Logger;
  /** Marks of all peers that this node tells itself. */
  readonly told: () => readonly PeerMark[];
  readonly asked: Map<DocumentKey, PeerSync>;
  readonly count: { framesSent: number; merged: number };
}

/** Who brought a version, and to whom he tells it himself. */
export class UpdateOrigin {
  readonly peer: PeerSync;
  readonly told: ReadonlySet<PeerMark>;

  constructor(peer: PeerSync, told: Iterable<PeerMark>) {
    this.peer = peer;
    this.told = new Set(told);
  }
}

export const markOf = (id: string): PeerMark => id.slice(0, 16);

/**
 * The conversation with one peer. Both say at the beginning, and now and then, what they have; each asks for what it
 * lacks. Receiving never waits for sending, else two nodes with full buffers would wait for each other.
 */
export class PeerSync {
  readonly mark: PeerMark;
  readonly #link: Link;
  readonly #round: Round;
  readonly #outbox: Outbox;
  readonly #pace: Pace;
  #wake = Promise.withResolvers<void>();
  #isEnded = false;

  constructor(link: Link, round: Round) {
    this.mark = markOf(link.peer);
    this.#link = link;
    this.#round = round;
    this.#outbox = new Outbox(round.store.versions);
    this.#pace = createPace(round.clock);
    this.#pump().catch((error: unknown) => this.#fail(error));
  }

  get reconciling(): number {
    return this.#outbox.reconciliations.size;
  }

  announce(): void {
    this.#outbox.announce();
    this.#wake.resolve();
  }

  compareAgain(): void {
    this.#outbox.reconciliations.endIdle();
    this.announce();
  }

  changed(key: DocumentKey, due: { readonly generation: number; readonly base: Heads }): void {
    this.#outbox.changed(key, due);
    this.#wake.resolve();
  }

  /** A generation of the document has ended or begun: what is being reconciled of the old one is of no use. */
  lifeOver(key: DocumentKey): void {
    this.#outbox.reconciliations.end(key);
  }

  end(): void {
    this.#isEnded = true;
    this.#outbox.reconciliations.endAll();
    this.#wake.resolve();
  }

  /** Throws when the frame is not one that a node of ours can have made. */
  async receive(frame: Frame): Promise<void> {
    try {
      await this.#answer(frame);
    } finally {
      this.#wake.resolve();
    }
  }

  async #answer(frame: Frame): Promise<void> {
    switch (frame.kind) {
      case "digest":
        return this.#outbox.explain(this.#round.store.versions.digest.differing(frame.sums));
      case "entries":
        return this.#compare(frame.entries, new Set(frame.buckets));
      case "wants":
        return frame.wants.forEach((want) => {
          this.#provide(want);
        });
      case "updates":
        return this.#mergeAll(frame.updates, new UpdateOrigin(this, frame.told));
      case "sync":
        return this.#reconcile(frame);
    }
  }

  #compare(entries: readonly Entry[], buckets: ReadonlySet<number>): void {
    for (const { key, stamp } of entries) {
      if (!buckets.has(bucketOf(key))) continue;
      const relation = relationOf(this.#round.store.versions.newest(key), stamp);
      const lacks =
        relation === "behind" || (relation === "diverged" && stamp.kind === "live" && !this.#has(key, stamp.heads));
      if (lacks) this.#want(key);
    }
  }

  #want(key: DocumentKey): void {
    const { asked } = this.#round;
    const other = asked.get(key);
    if (other && other !== this) return;
    asked.set(key, this);
    const ours = this.#live(key);
    this.#outbox.want({ key, generation: ours?.generation ?? 0, heads: ours?.heads ?? [] });
  }

  #provide({ key, generation, heads }: Want): void {
    const version = this.#round.store.versions.published(key);
    if (!version) return;
    const isSameLife = version.kind === "live" && version.generation === generation;
    if (isSameLife && sameHeads(version.heads, heads)) return;
    if (isSameLife && !this.#has(key, heads)) this.#outbox.reconciliations.begin(key, () => this.#published(key));
    else this.#outbox.asked(key, { generation, base: isSameLife ? heads : [] });
  }

  async #mergeAll(updates: readonly RemoteVersion[], origin: UpdateOrigin): Promise<void> {
    const durable: Promise<void>[] = [];
    for (const update of updates) {
      this.#round.asked.delete(update.key);
      durable.push(this.#merge(update, origin));
      await this.#pace();
    }
    await Promise.all(durable);
  }

  #merge(update: RemoteVersion, origin: UpdateOrigin): Promise<void> {
    try {
      const { result, durable } = this.#round.store.merge(update, origin);
      if (result === "merged") this.#round.count.merged++;
      if (result === "missing") this.#want(update.key);
      else if (result === "stale") this.#outbox.asked(update.key, { generation: 0, base: [] });
      else this.#compareAfter(update);
      return durable.catch((error: unknown) => this.#refused(update.key, error));
    } catch (error) {
      this.#refused(update.key, error);
      return Promise.resolve();
    }
  }

  /** If we have more than the peer has told us, it may lack it. */
  #compareAfter({ key, stamp }: RemoteVersion): void {
    const ours = this.#live(key);
    if (stamp.kind === "tombstone" || !ours || ours.generation !== stamp.generation) return;
    if (sameHeads(ours.heads, stamp.heads)) this.#outbox.known(key);
    else this.#outbox.changed(key, { generation: stamp.generation, base: stamp.heads });
  }

  /** A document that cannot be stored here is no fault of the peer; anything else is. */
  #refused(key: DocumentKey, error: unknown): void {
    if (!(error instanceof DocumentError) || error.kind === "invalid") throw error;
    if (error.kind !== "closed") this.#round.log.warn("document not stored", { key, error: error.message });
  }

  async #reconcile(frame: Frame & { kind: "sync" }): Promise<void> {
    const { key, generation } = frame;
    await this.#round.store.versions.settled(key).catch(() => undefined);
    if (this.#isEnded) return;
    const ours = this.#round.store.versions.published(key);
    if (!ours || ours.generation < generation) return this.#want(key);
    if (ours.kind === "tombstone" || ours.generation > generation)
      return this.#outbox.asked(key, { generation: 0, base: [] });
    const received = this.#outbox.reconciliations.receive(ours, frame);
    if (!received || sameHeads(received.base, received.heads)) return;
    const { base, heads, bytes } = received;
    await this.#merge({ key, stamp: { kind: "live", generation, heads }, base, bytes }, new UpdateOrigin(this, []));
  }

  #live(key: DocumentKey): LiveVersion | undefined {
    const version = this.#round.store.versions.newest(key);
    return version?.kind === "live" ? version : undefined;
  }

  #published(key: DocumentKey): LiveVersion | undefined {
    const version = this.#round.store.versions.published(key);
    return version?.kind === "live" ? version : undefined;
  }

  #has(key: DocumentKey, heads: Heads): boolean {
    const ours = this.#live(key);
    return (
      ours !== undefined && this.#round.store.versions.handles.read(key, ours, (handle) => hasHeads(handle, heads))
    );
  }

  async #pump(): Promise<void> {
    while (!this.#isEnded) {
      const frame = this.#outbox.next(this.#round.told);
      if (frame) await this.#send(frame);
      else {
        await this.#wake.promise;
        this.#wake = Promise.withResolvers();
      }
    }
  }

  async #send(frame: Frame): Promise<void> {
    const bytes = encodeFrame(frame);
    if (bytes.length > maxFrameBytes) {
      this.#round.log.warn("frame not sent: it is too long", { kind: frame.kind, bytes: bytes.length });
      return;
    }
    await this.#link.send(bytes);
    this.#round.count.framesSent++;
  }

  #fail(error: unknown): void {
    if (this.#isEnded) return;
    this.#round.log.debug("documents not sent", { error: error instanceof Error ? error.message : String(error) });
    this.#link.close("documents could not be sent");
  }
}
