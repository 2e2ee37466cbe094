import type { EndpointId } from "../identity.ts";
import type { SkipReason } from "../reasons.ts";

/** Somebody that discovery sees: a pod in a slice, an instance on the LAN. Not yet a peer: it may lack an identity. */
export interface Member {
  readonly origin: "kubernetes" | "mdns";
  /** The pod's name, or the first address of an endpoint that is no pod, or the instance's name. */
  readonly name: string;
  /** The name is a pod's: an identity may be derived from it. */
  readonly isPod: boolean;
  readonly podNamespace?: string;
  /** `ip:port`, IPv6 in brackets; sorted, each once, at least one. */
  readonly addresses: readonly string[];
  /** Annotations without their prefix, or the TXT record; without what has a field of its own here. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly relayUrl?: string;
  /** The identity it was declared to have. */
  readonly endpointId?: EndpointId;
  /** Ready and not on its way out. One that is not keeps the link it has, and gets no new one. */
  readonly dialable: boolean;
  /** Why it cannot be a peer although it was seen. */
  readonly problem?: SkipReason;
}

export interface DiscoveryState {
  /** The members are what is there now. Else they are what was there last, and `problem` says why. */
  readonly known: boolean;
  readonly problem?: string;
}

/** A running search for members. It never fails: what it cannot do it says in `state`, and tries again. */
export interface Discovery {
  /** Sorted by name. */
  members(): readonly Member[];
  state(): DiscoveryState;
  close(): Promise<void>;
}

/** Whether the two lists say the same. Both come sorted and in the same shape. */
export function sameMembers(before: readonly Member[], after: readonly Member[]): boolean {
  return JSON.stringify(before) === JSON.stringify(after);
}
