import type { RefusedClaim } from "./claims.ts";
import type { Holding } from "./holding.ts";
import type { ConnectionId } from "./ids.ts";
import type { KeptPeer } from "./kept.ts";
import { chooseNames } from "./names.ts";
import { byName, type Peer } from "./peer.ts";
import { settleRoutes } from "./settle-routes.ts";
import type { Stake } from "./stake.ts";
import type { World } from "./world.ts";

export interface PeersInput {
  readonly world: World;
  readonly target: ConnectionId;
  readonly stakes: readonly Stake[];
  readonly holding: Holding;
  readonly kept: readonly KeptPeer[];
}

export interface SettledPeers {
  readonly peers: readonly Peer[];
  /** Those of them that may differ from what the target holds. */
  readonly unsettled: readonly Peer[];
  /** Routes that somebody else has. */
  readonly refused: readonly RefusedClaim[];
}

/** The Peers of all shares: first what each may route, then what it is called. */
export function settlePeers({ stakes, holding, ...input }: PeersInput): SettledPeers {
  const { peers, unsettled, refused } = settleRoutes({ ...input, stakes, foreign: holding.foreign });
  const { doubled } = holding;
  const wanted = isInOrder(peers) ? peers : peers.toSorted(byName);
  if (doubled.size === 0 && stakes.every(({ isNamed }) => isNamed))
    return { peers: wanted, unsettled: unsettled.toSorted(byName), refused };
  const named = chooseNames({ wanted, holding, kept: input.kept, digest: input.world.digest });
  const marked = named.map((peer) => (doubled.has(peer.publicKey) ? { ...peer, touchPending: true } : peer));
  return { peers: marked, unsettled: marked, refused };
}

function isInOrder(peers: readonly Peer[]): boolean {
  return peers.every((peer, index) => index === 0 || byName(peers[index - 1] ?? peer, peer) <= 0);
}
