import { apiVersionOf } from "../kube/resource.ts";
import type { FaultSubject, Faults } from "./faults.ts";
import type { StoredEvent } from "./history.ts";
import type { RenderOptions } from "./render.ts";
import { renderObject } from "./render.ts";
import type { Selects } from "./selectors.ts";
import type { ServedResource } from "./served-resource.ts";
import type { Status } from "./status.ts";
import { changeFor, type WatchChange } from "./watch-query.ts";
import type { WireObject } from "./wire-object.ts";

/** The connection that a watch writes to. */
export interface WatchSink {
  /** False: the caller waits for `drained`. */
  write(chunk: Buffer): boolean;
  end(): void;
  /** Breaks the connection without an end of stream, after `last` has left. */
  destroy(last?: Buffer): void;
}

export interface WatchOptions {
  readonly served: ServedResource;
  readonly selects: Selects;
  readonly render: () => RenderOptions;
  readonly sink: WatchSink;
  readonly faults: Faults;
  readonly subject: FaultSubject;
  readonly bookmarks: boolean;
  /** Changes up to this revision are not sent: the client asked for what comes after. */
  readonly after: number;
  readonly revision: () => number;
}

const batchBytes = 128 * 1024;
const longestQueue = 200_000;
/** How many sent items may stay at the front of the queue before it is cut. */
const sparedSlots = 10_000;
const nothing = Buffer.alloc(0);
const garbage = Buffer.from('{"type":"MODI<html>\u0000\n');

/** One open watch: a queue of events on their way to one client. */
export class Watch {
  readonly #options: WatchOptions;
  #queue: (StoredEvent | Buffer)[] = [];
  #head = 0;
  #sentEvents = 0;
  #headersSent = false;
  #scheduled = false;
  #blocked = false;
  #stalled = false;
  #fault: "cut-watch" | "stall-watch" | undefined;
  #ending = false;
  #closed = false;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  changed(event: StoredEvent): void {
    if (this.#closed || this.#stalled) return;
    if (this.#queue.length >= longestQueue) {
      this.destroy();
      return;
    }
    event.waiting += 1;
    this.#queue.push(event);
    this.#schedule();
  }

  /** The resource is no longer served. */
  closed(): void {
    this.end();
  }

  bookmark(annotations?: Readonly<Record<string, string>>): void {
    const { served, revision, after, bookmarks } = this.#options;
    if (!bookmarks || revision() < after) return;
    const metadata = { resourceVersion: String(revision()), ...(annotations && { annotations }) };
    this.#push(frame("BOOKMARK", { kind: served.kind, apiVersion: apiVersionOf(served), metadata }));
  }

  error(status: Status): void {
    this.#push(frame("ERROR", status));
    this.end();
  }

  /** Ends the stream after everything that is queued. A stalled watch stays open. */
  end(): void {
    this.#ending = true;
    this.#schedule();
  }

  destroy(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#options.sink.destroy();
  }

  /** The client went away. */
  abandoned(): void {
    this.#closed = true;
    this.#queue = [];
  }

  drained(): void {
    this.#blocked = false;
    this.#pump();
  }

  /** A fault was added: it may concern this watch. */
  checkFaults(): void {
    this.#takeFault();
    if (this.#fault) this.#strike();
  }

  #takeFault(): void {
    const { faults, subject } = this.#options;
    if (this.#fault || this.#closed || !faults.active) return;
    const fault = faults.take(subject, ["cut-watch", "stall-watch"], (action) => {
      return this.#sentEvents >= (action.afterEvents ?? 0);
    });
    this.#fault = fault?.kind;
  }

  #strike(last?: Buffer): void {
    if (this.#closed || this.#stalled) return;
    const { sink } = this.#options;
    if (this.#fault === "stall-watch") {
      this.#stalled = true;
      if (last) sink.write(last);
      return;
    }
    this.#closed = true;
    sink.destroy(last);
  }

  #push(chunk: Buffer): void {
    if (this.#closed || this.#stalled) return;
    this.#queue.push(chunk);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#pump();
    });
  }

  #pump(): void {
    while (this.#head < this.#queue.length && this.#isFlowing()) this.#write(this.#nextBatch());
    if (!this.#ending || this.#head < this.#queue.length || !this.#isFlowing()) return;
    this.#closed = true;
    this.#options.sink.end();
  }

  #write(batch: readonly Buffer[]): void {
    const chunk = batch.length > 0 ? Buffer.concat(batch) : undefined;
    if (this.#fault) this.#strike(chunk);
    else if (chunk) this.#blocked = !this.#options.sink.write(chunk);
  }

  #isFlowing(): boolean {
    return !this.#closed && !this.#stalled && !this.#blocked;
  }

  #nextBatch(): readonly Buffer[] {
    const batch: Buffer[] = [];
    for (let bytes = 0; this.#head < this.#queue.length && bytes < batchBytes && !this.#fault; ) {
      const item = this.#next();
      for (const chunk of Buffer.isBuffer(item) ? [item] : this.#framesOf(item)) {
        batch.push(chunk);
        bytes += chunk.length;
      }
    }
    return batch;
  }

  #next(): StoredEvent | Buffer {
    const item = this.#queue[this.#head] ?? nothing;
    this.#queue[this.#head] = nothing;
    this.#head += 1;
    if (this.#head === this.#queue.length || this.#head >= sparedSlots) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  #framesOf(event: StoredEvent): readonly Buffer[] {
    event.waiting -= 1;
    const news = event.revision > this.#options.after;
    const change = news ? changeFor(event, this.#options.selects) : undefined;
    const bytes = change && this.#serialised(event, change);
    if (event.waiting <= 0) event.frames.clear();
    return bytes ? this.#withFaults(bytes, change.object) : [];
  }

  #serialised(event: StoredEvent, change: WatchChange): Buffer {
    const { served } = this.#options;
    const render = { ...this.#options.render(), headers: !this.#headersSent };
    this.#headersSent = true;
    const look = render.format === "table" ? `${render.include} ${render.headers}` : "";
    const key = `${change.type} ${served.group}/${served.version} ${render.format} ${look}`;
    const known = event.frames.get(key);
    if (known) return known;
    const made = frame(change.type, renderObject(served, change.object, render));
    event.frames.set(key, made);
    return made;
  }

  #withFaults(bytes: Buffer, object: WireObject): readonly Buffer[] {
    const { faults, subject } = this.#options;
    if (!faults.active) {
      this.#sentEvents += 1;
      return [bytes];
    }
    const { name, namespace } = object.metadata;
    const target = { ...subject, name, namespace };
    const fault = faults.take(target, ["drop-event", "duplicate-event", "garbage"]);
    const sent = fault ? faulty[fault.kind](bytes) : [bytes];
    this.#sentEvents += 1;
    this.#takeFault();
    return sent;
  }
}

const faulty: Readonly<Record<"drop-event" | "duplicate-event" | "garbage", (bytes: Buffer) => readonly Buffer[]>> = {
  "drop-event": () => [],
  "duplicate-event": (bytes) => [bytes, bytes],
  garbage: (bytes) => [garbage, bytes],
};

function frame(type: string, object: unknown): Buffer {
  return Buffer.from(`${JSON.stringify({ type, object })}\n`);
}
