import type { Clock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/log.ts";
import type { EndpointId } from "../identity.ts";
import type { LinkReason } from "../reasons.ts";
import { type CloseCode, type Connection, closeCodes } from "../transport/transport.ts";
import type { Formation, Role } from "./formation.ts";
import { HandshakeError, shakeHands } from "./handshake.ts";
import type { LinkHandler, LinkInfo, Traffic } from "./link.ts";
import { LiveLink } from "./live-link.ts";
import { Seats } from "./seats.ts";

export interface LinksOptions {
  readonly self: EndpointId;
  readonly formation: Formation;
  readonly handler: LinkHandler;
  readonly clock: Clock;
  readonly log: Logger;
  /** Random, one per process. */
  readonly instance: bigint;
  /** Asked at the moment of the decision, and never answered by what was true when the dial began. */
  readonly isWelcome: (peer: EndpointId, role: Role) => boolean;
  readonly onUp: (link: LiveLink) => void;
  readonly onDown: (link: LiveLink, reason: LinkReason) => void;
}

const handshakeTimeoutMs = 5_000;

/** All links, at most one per peer, and the only way from a connection to a link. */
export class Links {
  readonly #options: LinksOptions;
  readonly #seats: Seats;
  #past: Traffic = { bytesSent: 0, bytesReceived: 0 };

  constructor(options: LinksOptions) {
    this.#options = options;
    this.#seats = new Seats(options.clock, options.instance);
  }

  /** Makes a link of the connection, or closes it and tells why. */
  async greet(connection: Connection, role: Role): Promise<LinkReason | undefined> {
    const { self, formation, clock, log, isWelcome } = this.#options;
    const seating = this.#seats.seatingFor(connection, () => isWelcome(connection.remote, role));
    try {
      const streams = await shakeHands(connection, {
        ...{ self, formation, role, seating, clock },
        withinMs: handshakeTimeoutMs,
      });
      return this.#begin(connection, role, streams);
    } catch (error) {
      this.#seats.leave(connection);
      if (error instanceof HandshakeError) return error.reason;
      connection.close(closeCodes.badProtocol);
      log.error("greeting failed", {
        peer: connection.remote,
        stack: error instanceof Error ? error.stack : String(error),
      });
      return "BadProtocol";
    }
  }

  /** Whether the peer has a link or is about to have one. */
  isSeated(peer: EndpointId): boolean {
    return this.#seats.of(peer) !== undefined;
  }

  of(peer: EndpointId): LinkInfo | undefined {
    return this.#seats.of(peer)?.link?.info();
  }

  /** Sorted by peer. */
  all(): readonly LinkInfo[] {
    return this.#seats
      .links()
      .map((link) => link.info())
      .sort((one, other) => (one.peer < other.peer ? -1 : 1));
  }

  /** Of all links there ever were. */
  traffic(): Traffic {
    return this.#seats.links().reduce((sum, link) => add(sum, link.traffic()), this.#past);
  }

  end(peer: EndpointId, reason: LinkReason, code: CloseCode): void {
    const seat = this.#seats.of(peer);
    seat?.link?.end(reason, code);
    seat?.connection.close(code);
  }

  endAll(): void {
    for (const { peer } of this.#seats.links()) this.end(peer, "TransportClosed", closeCodes.leaving);
  }

  #begin(connection: Connection, role: Role, streams: LinkStreams): LinkReason | undefined {
    const { handler, clock, log, onUp } = this.#options;
    const direction = role === "dialer" ? "dialed" : "accepted";
    const onDown = (reason: LinkReason) => this.#down(connection, link, reason);
    const link: LiveLink = new LiveLink({ connection, streams, direction, handler, clock, log, onDown });
    if (!this.#seats.attach(connection, link)) {
      connection.close(closeCodes.superseded);
      return "Superseded";
    }
    onUp(link);
    link.start();
    return undefined;
  }

  #down(connection: Connection, link: LiveLink, reason: LinkReason): void {
    this.#seats.leave(connection);
    this.#past = add(this.#past, link.traffic());
    this.#options.onDown(link, reason);
  }
}

type LinkStreams = Awaited<ReturnType<typeof shakeHands>>;

function add(one: Traffic, other: Traffic): Traffic {
  return {
    bytesSent: one.bytesSent + other.bytesSent,
    bytesReceived: one.bytesReceived + other.bytesReceived,
  };
}
