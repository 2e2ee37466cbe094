import type { HeldClaim } from "./claims.ts";
import type { Holding } from "./holding.ts";
import type { ConnectionId } from "./ids.ts";
import type { KeptPeer } from "./kept.ts";
import { joined } from "./many.ts";
import { chooseNames } from "./names.ts";
import { onceFor } from "./once-per.ts";
import type { Others } from "./others.ts";
import { byName, type Peer } from "./peer.ts";
import type { Recall } from "./recall.ts";
import { settleRoutes } from "./settle-routes.ts";
import type { Stake } from "./stake.ts";
import type { World } from "./world.ts";

export interface PeersInput {
  readonly world: World;
  readonly target: ConnectionId;
  readonly stakes: readonly Stake[];
  readonly holding: Holding;
  readonly kept: readonly KeptPeer[];
  readonly others: Others;
  readonly recall: Recall;
}

export interface SettledPeers {
  readonly peers: readonly Peer[];
  /** Those of them that may differ from what the target holds. */
  readonly unsettled: readonly Peer[];
  /** Routes that somebody else keeps out. */
  readonly refused: readonly HeldClaim[];
}

/** The Peers of all shares: first what each may route, then what it is called. */
export function settlePeers({ holding, kept, ...input }: PeersInput): SettledPeers {
  const { stakes, world } = input;
  const { parts, refused } = settleRoutes(input);
  const { doubled } = holding.roster;
  const wanted = inOrder(parts.map(({ peers }) => peers));
  const unsettled = parts.flatMap((part) => part.unsettled).sort(byName);
  if (doubled.size === 0 && stakes.every(({ isNamed }) => isNamed)) return { peers: wanted, unsettled, refused };
  const named = chooseNames({ wanted, holding, kept, digest: world.digest });
  const peers = named.map((peer) => (doubled.has(peer.publicKey) ? { ...peer, touchPending: true } : peer));
  const isUnsettled = new Set(unsettled);
  // One that got another name, or a mark, is another object.
  return { peers, unsettled: peers.filter((peer, index) => peer !== wanted[index] || isUnsettled.has(peer)), refused };
}

type List = readonly Peer[];

/** All by name. Each list nearly always is, and goes before or after another as a whole: then nothing has to be sorted. */
function inOrder(lists: readonly List[]): List {
  const full = lists.filter((list) => list.length > 0).toSorted(byFirst);
  const all = joined(full);
  const isDone = full.every((list, index) => isSorted(list) && isBefore(full[index - 1]?.at(-1), list[0]));
  return isDone ? all : all.sort(byName);
}

const byFirst = ([a]: List, [b]: List): number => (isBefore(a, b) ? -1 : 1);
const isSorted = onceFor((list: List) => list.every((peer, index) => isBefore(list[index - 1], peer)));
const isBefore = (a: Peer | undefined, b: Peer | undefined): boolean => !a || !b || byName(a, b) <= 0;
