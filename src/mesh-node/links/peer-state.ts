import type { Peer } from "../discovery/roster.ts";
import type { EndpointId } from "../identity.ts";
import type { LinkReason } from "../reasons.ts";
import type { Link, LinkInfo } from "./link.ts";

/** How it stands with a peer that we want. Without `retryAt` it is not dialed: it is not ready, or leaving. */
export type PeerProgress =
  | { readonly kind: "linked"; readonly link: LinkInfo }
  | { readonly kind: "dialing" }
  | { readonly kind: "waiting"; readonly reason?: LinkReason; readonly retryAt?: Date };

export interface PeerState {
  readonly peer: Peer;
  readonly progress: PeerProgress;
}

export interface ConnectTarget {
  readonly id: EndpointId;
  /** `ip:port`. */
  readonly addresses: readonly string[];
  readonly name?: string;
}

/** How an attempt ended. A peer that failed stays wanted and is tried again. */
export type ConnectOutcome = { readonly kind: "linked" } | { readonly kind: "failed"; readonly reason: LinkReason };

/** What happens to links, for metrics. */
export type LinkEvent =
  | { readonly kind: "dialed"; readonly outcome: "linked" | LinkReason; readonly tookMs: number }
  | { readonly kind: "refused"; readonly reason: LinkReason }
  | { readonly kind: "up"; readonly direction: Link["direction"] }
  | { readonly kind: "down"; readonly reason: LinkReason };
