import type { DiscoveryMode } from "../config/config.ts";
import type { HostPort } from "../config/host-port.ts";
import type { DiscoveryState } from "../discovery/member.ts";
import type { Peer, Skipped } from "../discovery/roster.ts";
import type { Documents } from "../documents/documents.ts";
import type { SyncStats } from "../documents/sync.ts";
import type { EndpointId } from "../identity.ts";
import type { LinkInfo, Traffic } from "../links/link.ts";

export type Phase = "starting" | "running" | "stopping";

/** What the API needs of the node. */
export interface SidecarPorts {
  readonly self: { readonly nodeId: string; readonly endpointId: EndpointId };
  readonly documents: Documents;
  phase(): Phase;
  links(): readonly LinkInfo[];
  /** All bytes of frames since the start, also of links that are no more. */
  traffic(): Traffic;
  sync(): SyncStats;
  /** Resolves when the link is up, else with why it is not. */
  connect(id: EndpointId, addresses: readonly HostPort[]): Promise<"linked" | NotLinked>;
  disconnect(id: EndpointId): void;
  sight(): Sight;
}

export interface NotLinked {
  readonly reason: string;
}

/** Who this node sees and what became of it. */
export interface Sight {
  readonly mode: DiscoveryMode;
  readonly discovery: DiscoveryState;
  readonly peers: readonly SeenPeer[];
  readonly skipped: readonly Skipped[];
}

export interface SeenPeer {
  readonly id: EndpointId;
  readonly addresses: readonly string[];
  readonly name?: string;
  readonly origin: Peer["origin"] | "connected";
  readonly state: "linked" | "dialing" | "waiting" | "disconnected";
  /** Why it is not linked. */
  readonly reason?: string;
}
