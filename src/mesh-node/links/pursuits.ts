import type { Clock } from "../../runtime/clock.ts";
import type { Peer } from "../discovery/roster.ts";
import type { EndpointId } from "../identity.ts";
import type { LinkReason } from "../reasons.ts";
import {
  afterFailure,
  afterLink,
  beginPursuit,
  type LinkEnd,
  type Moment,
  type Pursuit,
  sameAddresses,
  updatePursuit,
} from "./pursuit.ts";

export interface PursuitsOptions {
  readonly self: EndpointId;
  readonly clock: Clock;
  readonly random: () => number;
}

export interface PursuitsChange {
  readonly gone: readonly EndpointId[];
  readonly moved: readonly EndpointId[];
}

/** The pursuits of all wanted peers. */
export class Pursuits {
  readonly #options: PursuitsOptions;
  readonly #pursuits = new Map<EndpointId, Pursuit>();

  constructor(options: PursuitsOptions) {
    this.#options = options;
  }

  /** Pursues these peers and nobody else, and says who is gone and who has other addresses. */
  set(peers: readonly Peer[]): PursuitsChange {
    const wanted = new Set(peers.map(({ id }) => id));
    const gone = [...this.#pursuits.keys()].filter((id) => !wanted.has(id));
    const moved = peers.filter((peer) => this.#hasMoved(peer)).map(({ id }) => id);
    for (const id of gone) this.#pursuits.delete(id);
    for (const peer of peers) this.#pursuits.set(peer.id, this.#next(peer));
    return { gone, moved };
  }

  /** Sorted by id. */
  all(): readonly Pursuit[] {
    return [...this.#pursuits.values()].sort((one, other) => (one.peer.id < other.peer.id ? -1 : 1));
  }

  get(id: EndpointId): Pursuit | undefined {
    return this.#pursuits.get(id);
  }

  hurry(id: EndpointId): void {
    this.#change(id, (pursuit, { nowMs }) => ({ ...pursuit, dueAtMs: nowMs }));
  }

  failed(id: EndpointId, reason: LinkReason): void {
    this.#change(id, (pursuit, moment) => afterFailure(pursuit, reason, moment));
  }

  ended(id: EndpointId, end: LinkEnd): void {
    this.#change(id, (pursuit, moment) => afterLink(pursuit, end, moment));
  }

  #next(peer: Peer): Pursuit {
    const known = this.#pursuits.get(peer.id);
    const moment = this.#moment();
    return known ? updatePursuit(known, peer, moment) : beginPursuit(peer, this.#options.self, moment);
  }

  #hasMoved(peer: Peer): boolean {
    const known = this.#pursuits.get(peer.id);
    return known !== undefined && !sameAddresses(known.peer, peer);
  }

  #change(id: EndpointId, change: (pursuit: Pursuit, moment: Moment) => Pursuit): void {
    const pursuit = this.#pursuits.get(id);
    if (pursuit) this.#pursuits.set(id, change(pursuit, this.#moment()));
  }

  #moment(): Moment {
    return { nowMs: this.#options.clock.now(), random: this.#options.random };
  }
}
