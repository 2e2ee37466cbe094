import { networksIn } from "./cidr.ts";
import type { Claim } from "./claims.ts";
import { endpointRoutes } from "./endpoint.ts";
import type { KeptPeer } from "./kept.ts";
import type { HeldPeer } from "./peer.ts";
import { type Ranges, rangesOf } from "./ranges.ts";

/** What the Peers of a target have that we do not plan now: it is there, and works. */
export interface Others {
  readonly claims: readonly Claim[];
  /** The addresses that they are for. */
  readonly extent: Ranges;
  /** Where their tunnels end. */
  readonly endpoints: Ranges;
}

export interface OthersInput {
  /** The Peers that are not ours. */
  readonly foreign: readonly HeldPeer[];
  readonly kept: readonly KeptPeer[];
}

export function othersOf({ foreign, kept }: OthersInput): Others {
  const claims = [
    ...foreign.flatMap((held) => incumbents(held, held.allowedIps, held.publicKey)),
    ...kept.flatMap(({ held, routes, cluster }) => incumbents(held, routes, cluster ?? sourceOf(held))),
  ];
  const all = [...foreign, ...kept.map(({ held }) => held)];
  return {
    claims,
    extent: rangesOf(claims.map(({ route }) => route)),
    endpoints: rangesOf(all.flatMap(({ endpoint }) => (endpoint ? endpointRoutes(endpoint) : []))),
  };
}

/** Routes of one cluster may nest, so its Peers must be known for one cluster also while nobody knows which. */
const sourceOf = ({ owners, source }: HeldPeer): string => `${owners.join()} ${source}`;

function incumbents({ publicKey: peer }: HeldPeer, allowedIps: readonly string[], cluster: string): Claim[] {
  return networksIn(allowedIps).map((route) => ({ peer, cluster, route, incumbent: true, rank: "" }));
}
