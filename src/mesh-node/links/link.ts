import type { EndpointId } from "../identity.ts";

/** A frame that is longer is refused by both sides. */
export const maxFrameBytes = 16 * 1024 * 1024;

/** A live connection to a peer, whose formation was proven both ways. */
export interface Link {
  readonly peer: EndpointId;
  /** Who dialed: `dialed` means that we did. */
  readonly direction: "dialed" | "accepted";
  readonly since: Date;
  /**
   * Frames arrive whole and in the order of the calls. Resolves when the transport took the frame: a sender that awaits
   * is slowed to the pace of the peer. Rejects when the link is closed or the frame is too long; a sender that does not
   * await and runs far ahead of the peer loses the link.
   */
  send(frame: Uint8Array): Promise<void>;
  /** Ends the link; a second call does nothing. `problem` is told to the log and, as a code alone, to the peer. */
  close(problem?: string): void;
}

/**
 * What lives on links. For each link: `up` once, then `receive` for one frame after the other, then `down` once; after
 * `down` no `receive` begins. Of one peer, the old link is down before a new one is up.
 */
export interface LinkHandler {
  up(link: Link): void;
  /** The next frame is read when this is done. A failure closes the link. */
  receive(link: Link, frame: Uint8Array): void | Promise<void>;
  down(link: Link): void;
}

/** A link as people and metrics see it. */
export interface LinkInfo {
  readonly peer: EndpointId;
  readonly direction: Link["direction"];
  readonly since: Date;
  /** Where the peer is reached now, as `ip:port`, if the transport knows. */
  readonly address?: string;
  readonly traffic: Traffic;
}

/** Payload bytes of frames, without what the transport adds. */
export interface Traffic {
  readonly bytesSent: number;
  readonly bytesReceived: number;
}
