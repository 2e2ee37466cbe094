import type { Clock } from "../../runtime/clock.ts";
import type { EndpointId } from "../identity.ts";
import { type Connection, closeCodes } from "../transport/transport.ts";
import type { Adoption } from "./greeting.ts";
import type { Seating } from "./handshake.ts";
import type { LiveLink } from "./live-link.ts";

/** The one connection of a pair. Without a link, its streams are still being opened. */
export interface Seat {
  readonly connection: Connection;
  readonly adoption: Adoption;
  readonly takenAtMs: number;
  readonly link?: LiveLink;
}

/**
 * For so long the peer may not have heard of an adoption. Before, a second connection is one that both dialed at the
 * same time; after, a peer that holds nothing has lost the first.
 */
const settleMs = 1_000;

/**
 * One seat per peer. The side with the lower id decides alone who has it, so that two that dial each other at the same
 * time never choose differently.
 */
export class Seats {
  readonly #clock: Clock;
  readonly #instance: bigint;
  readonly #seats = new Map<EndpointId, Seat>();
  #lastNumber = 0n;

  constructor(clock: Clock, instance: bigint) {
    this.#clock = clock;
    this.#instance = instance;
  }

  of(peer: EndpointId): Seat | undefined {
    return this.#seats.get(peer);
  }

  links(): LiveLink[] {
    return [...this.#seats.values()].flatMap(({ link }) => link ?? []);
  }

  /** How this connection gets its seat. While `isWelcome` says no, it gets none. */
  seatingFor(connection: Connection, isWelcome: () => boolean): Seating {
    const peer = connection.remote;
    return {
      held: () => this.#seats.get(peer)?.adoption,
      decide: (peerHolds) => {
        const seat = this.#seats.get(peer);
        if (!isWelcome() || (seat && this.#stays(seat, peerHolds))) return undefined;
        const adoption = { instance: this.#instance, number: ++this.#lastNumber };
        this.#take(connection, adoption);
        return adoption;
      },
      follow: (adoption) => {
        const seat = this.#seats.get(peer);
        if (!isWelcome() || (seat && isLater(seat.adoption, adoption))) return false;
        this.#take(connection, adoption);
        return true;
      },
    };
  }

  /** Puts the link onto its seat; false when the seat was lost meanwhile. */
  attach(connection: Connection, link: LiveLink): boolean {
    const seat = this.#seats.get(connection.remote);
    if (seat?.connection !== connection) return false;
    this.#seats.set(connection.remote, { ...seat, link });
    return true;
  }

  /** Frees the seat if this connection has it. */
  leave(connection: Connection): void {
    if (this.#seats.get(connection.remote)?.connection === connection) this.#seats.delete(connection.remote);
  }

  #stays(seat: Seat, peerHolds: Adoption | undefined): boolean {
    const isAgreed = peerHolds !== undefined && isSame(peerHolds, seat.adoption);
    return isAgreed || this.#clock.now() - seat.takenAtMs < settleMs;
  }

  #take(connection: Connection, adoption: Adoption): void {
    const before = this.#seats.get(connection.remote);
    this.#seats.set(connection.remote, { connection, adoption, takenAtMs: this.#clock.now() });
    before?.link?.end("Superseded", closeCodes.superseded);
    before?.connection.close(closeCodes.superseded);
  }
}

function isSame(one: Adoption, other: Adoption): boolean {
  return one.instance === other.instance && one.number === other.number;
}

/** Decisions of another process say nothing about the order: the one heard last counts. */
function isLater(one: Adoption, other: Adoption): boolean {
  return one.instance === other.instance && one.number >= other.number;
}
