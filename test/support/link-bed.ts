import type { Peer } from "../../src/mesh-node/discovery/roster.ts";
import { deriveSeed, type EndpointId } from "../../src/mesh-node/identity.ts";
import { formationOf, linkProtocol } from "../../src/mesh-node/links/formation.ts";
import type { Link, LinkHandler } from "../../src/mesh-node/links/link.ts";
import { createManager, type Manager } from "../../src/mesh-node/links/manager.ts";
import type { LinkEvent } from "../../src/mesh-node/links/peer-state.ts";
import { MemoryNetwork } from "../../src/mesh-node/transport/memory.ts";
import type { Transport } from "../../src/mesh-node/transport/transport.ts";
import type { Fields, Logger } from "../../src/runtime/log.ts";
import { FakeClock } from "./fake-clock.ts";

const identityKey = new Uint8Array(32).fill(7);

export interface BedNodeOptions {
  readonly formationId?: string;
  readonly sharedKey?: Uint8Array;
  readonly receive?: LinkHandler["receive"];
}

export interface BedLine {
  readonly message: string;
  readonly fields: Fields;
}

/** A manager with everything that was told to its handler and its log. */
export interface BedNode {
  readonly name: string;
  readonly id: EndpointId;
  readonly manager: Manager;
  readonly transport: Transport;
  readonly lines: readonly BedLine[];
  readonly events: readonly LinkEvent[];
  readonly handled: Handled;
  /** As the others see it. */
  peer(overrides?: Partial<Peer>): Peer;
}

/** Managers on a network in memory, on a clock that a test moves. */
export class LinkBed {
  readonly clock = new FakeClock();
  readonly network: MemoryNetwork;
  readonly #random: () => number;
  readonly #nodes: BedNode[] = [];
  #lastAddress = 0;

  constructor(random: () => number = () => 0.5, latencyMs: () => number = () => 1) {
    this.#random = random;
    this.network = new MemoryNetwork({ clock: this.clock, latencyMs });
  }

  async start(name: string, options: BedNodeOptions = {}): Promise<BedNode> {
    const { formationId = "formation", sharedKey = identityKey } = options;
    const address = `10.0.0.${++this.#lastAddress}:7000`;
    const seed = deriveSeed(identityKey, name);
    const transport = await this.network.listen({ seed, address, protocol: linkProtocol });
    const handled = new Handled(options.receive);
    const lines: BedLine[] = [];
    const events: LinkEvent[] = [];
    const manager = createManager({
      ...{ transport, handler: handled, clock: this.clock, log: recordingLog(lines), random: this.#random },
      formation: formationOf(formationId, sharedKey),
      observe: (event) => events.push(event),
    });
    const peer = (overrides: Partial<Peer> = {}): Peer => ({
      ...{ id: transport.id, addresses: [address], name, origin: "kubernetes", dialable: true },
      ...overrides,
    });
    const node = { name, id: transport.id, manager, transport, lines, events, handled, peer };
    this.#nodes.push(node);
    return node;
  }

  /** Nodes in the order of their ids. */
  async startSorted(count: number): Promise<BedNode[]> {
    const names = Array.from({ length: count }, (_, index) => `node-${index}`);
    const nodes = await Promise.all(names.map((name) => this.start(name)));
    return nodes.sort((one, other) => (one.id < other.id ? -1 : 1));
  }

  /** As if killed: no goodbye, and nothing it does arrives anywhere. */
  async crash(node: BedNode): Promise<void> {
    this.network.crash(node.transport);
    await node.manager.close();
  }

  async close(): Promise<void> {
    await Promise.all(this.#nodes.map(({ manager }) => manager.close()));
  }
}

/** Lets each node want all others. */
export function wantEachOther(nodes: readonly BedNode[]): void {
  for (const node of nodes) node.manager.want(nodes.filter((other) => other !== node).map((other) => other.peer()));
}

/** Records what a handler is told, and throws when the rules of a handler are broken. */
export class Handled implements LinkHandler {
  readonly history: string[] = [];
  readonly frames: { readonly from: EndpointId; readonly text: string }[] = [];
  readonly #up = new Map<EndpointId, Link>();
  readonly #receive: LinkHandler["receive"] | undefined;
  readonly broken: string[] = [];

  constructor(receive?: LinkHandler["receive"]) {
    this.#receive = receive;
  }

  linkTo(peer: EndpointId): Link | undefined {
    return this.#up.get(peer);
  }

  up(link: Link): void {
    if (this.#up.has(link.peer)) this.broken.push("a second link is up");
    this.#up.set(link.peer, link);
    this.history.push("up");
  }

  receive(link: Link, frame: Uint8Array): void | Promise<void> {
    if (this.#up.get(link.peer) !== link) this.broken.push("a frame came on a link that is not up");
    this.frames.push({ from: link.peer, text: Buffer.from(frame).toString() });
    return this.#receive?.(link, frame);
  }

  down(link: Link): void {
    if (this.#up.get(link.peer) !== link) this.broken.push("a link that is not up went down");
    this.#up.delete(link.peer);
    this.history.push("down");
  }
}

function recordingLog(lines: BedLine[]): Logger {
  const keep = (message: string, fields: Fields = {}) => void lines.push({ message, fields });
  const log: Logger = { debug: () => undefined, info: keep, warn: keep, error: keep, with: () => log };
  return log;
}
