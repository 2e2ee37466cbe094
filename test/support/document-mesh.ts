import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { DocumentsOptions } from "../../src/mesh-node/documents/open-documents.ts";
import { type DocumentStore, openDocuments } from "../../src/mesh-node/documents/open-documents.ts";
import { createSync, type Sync } from "../../src/mesh-node/documents/sync.ts";
import type { EndpointId } from "../../src/mesh-node/identity.ts";
import type { Link, LinkHandler } from "../../src/mesh-node/links/link.ts";
import { silentLogger } from "../../src/runtime/log.ts";
import { FakeClock } from "./fake-clock.ts";

export interface DocumentNode {
  readonly id: EndpointId;
  readonly store: DocumentStore;
  readonly sync: Sync;
  /** All documents of collection `c`, as one object. */
  content(): Promise<Readonly<Record<string, unknown>>>;
}

/** Two ends of a link. */
export interface Wire {
  /** Bytes of each frame that went through, of both directions. */
  readonly frames: readonly number[];
  /** Why it was closed by one of its ends, if it was. */
  problem(): string | undefined;
  cut(): void;
}

/** Nodes with stores of their own and links in memory between them, on a clock that a test moves. */
export class DocumentMesh {
  readonly clock = new FakeClock();
  readonly nodes: DocumentNode[] = [];
  readonly #directories: string[] = [];
  readonly #wires = new Set<MemoryWire>();

  async start(options: Partial<DocumentsOptions> = {}): Promise<DocumentNode> {
    const directory = options.directory ?? (await mkdtemp(join(tmpdir(), "document-mesh-")));
    this.#directories.push(directory);
    const store = await openDocuments({ clock: this.clock, log: silentLogger, ...options, directory });
    const sync = createSync({ store, clock: this.clock, log: silentLogger, compareEveryMs: 60_000, random: () => 0.5 });
    const content = async () =>
      Object.fromEntries((await store.list("c")).map(({ id, json }) => [id, JSON.parse(json)]));
    const id = (this.nodes.length + 1).toString(16).padStart(2, "0").repeat(32) as EndpointId;
    const node = { id, store, sync, content };
    this.nodes.push(node);
    return node;
  }

  async startMany(count: number): Promise<DocumentNode[]> {
    const nodes: DocumentNode[] = [];
    for (let n = 0; n < count; n++) nodes.push(await this.start());
    return nodes;
  }

  link(one: DocumentNode, other: DocumentNode): Wire {
    return this.wire({ id: one.id, handler: one.sync }, { id: other.id, handler: other.sync });
  }

  wire(one: WireEnd, other: WireEnd): Wire {
    const wire = new MemoryWire(one, other);
    this.#wires.add(wire);
    wire.up();
    return wire;
  }

  linkAll(): void {
    for (const [index, one] of this.nodes.entries())
      for (const other of this.nodes.slice(index + 1)) this.link(one, other);
  }

  /** Waits until no frame is on its way and none comes for some turns. */
  async quiet(): Promise<void> {
    let calm = 0;
    while (calm < 40) {
      await nextTurn();
      await Promise.all(this.nodes.map(({ store }) => store.stats().fileBytes));
      calm = [...this.#wires].some((wire) => wire.takeBusy()) ? 0 : calm + 1;
    }
  }

  async close(): Promise<void> {
    for (const wire of this.#wires) wire.cut();
    for (const { store, sync } of this.nodes) {
      await sync.close();
      await store.close();
    }
    for (const directory of new Set(this.#directories)) await rm(directory, { recursive: true });
  }
}

export interface WireEnd {
  readonly id: EndpointId;
  readonly handler: LinkHandler;
}

/** At most so many frames wait in each direction before a sender has to wait. */
const frontier = 4;

class MemoryWire implements Wire {
  readonly frames: number[] = [];
  readonly #directions: readonly Direction[];
  #problem: string | undefined;
  #isCut = false;
  #seen = 0;

  constructor(one: WireEnd, other: WireEnd) {
    const carried = (bytes: number) => this.frames.push(bytes);
    const close = (problem?: string) => this.#close(problem);
    this.#directions = [
      new Direction({ from: one, to: other, carried, close }),
      new Direction({ from: other, to: one, carried, close }),
    ];
    const [there, back] = this.#directions;
    there?.answerOn(back);
    back?.answerOn(there);
  }

  up(): void {
    for (const direction of this.#directions) direction.up();
  }

  problem(): string | undefined {
    return this.#problem;
  }

  takeBusy(): boolean {
    const isBusy = this.frames.length !== this.#seen || this.#directions.some((direction) => direction.isBusy);
    this.#seen = this.frames.length;
    return isBusy;
  }

  cut(): void {
    if (this.#isCut) return;
    this.#isCut = true;
    for (const direction of this.#directions) direction.down();
  }

  #close(problem?: string): void {
    this.#problem ??= problem;
    this.cut();
  }
}

interface DirectionOptions {
  readonly from: WireEnd;
  readonly to: WireEnd;
  carried(bytes: number): void;
  close(problem?: string): void;
}

/** Frames of one sender to one receiver: in order, one at a time, and the sender waits when too many wait. */
class Direction {
  readonly #options: DirectionOptions;
  readonly #link: Link;
  readonly #queue: Uint8Array[] = [];
  #back: Direction | undefined;
  #isDown = false;
  #isDelivering = false;
  #room = Promise.withResolvers<void>();

  constructor(options: DirectionOptions) {
    this.#options = options;
    this.#link = {
      peer: options.to.id,
      direction: "dialed",
      since: new Date(0),
      send: (frame) => this.#send(frame),
      close: (problem) => options.close(problem),
    };
  }

  get isBusy(): boolean {
    return this.#isDelivering || this.#queue.length > 0;
  }

  answerOn(back: Direction | undefined): void {
    this.#back = back;
  }

  up(): void {
    this.#options.from.handler.up(this.#link);
  }

  down(): void {
    this.#isDown = true;
    this.#queue.length = 0;
    this.#room.resolve();
    this.#options.from.handler.down(this.#link);
  }

  async #send(frame: Uint8Array): Promise<void> {
    if (this.#isDown) throw new Error("the link is closed");
    this.#queue.push(Uint8Array.from(frame));
    if (!this.#isDelivering) void this.#deliver();
    while (this.#queue.length >= frontier && !this.#isDown) await this.#room.promise;
  }

  async #deliver(): Promise<void> {
    this.#isDelivering = true;
    await nextTurn();
    for (let frame = this.#queue.shift(); frame && this.#back; frame = this.#queue.shift()) {
      this.#room.resolve();
      this.#room = Promise.withResolvers();
      this.#options.carried(frame.length);
      try {
        await this.#options.to.handler.receive(this.#back.#link, frame);
      } catch (error) {
        this.#options.close(error instanceof Error ? error.message : String(error));
      }
    }
    this.#isDelivering = false;
  }
}
