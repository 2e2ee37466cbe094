import { heldWithName } from "./holding.ts";
import type { PeerName } from "./ids.ts";
import { keptMark } from "./move.ts";
import { type HeldPeer, type Peer, samePeer } from "./peer.ts";
import type { KnownPlan } from "./plan.ts";
import { sameTexts } from "./texts.ts";

export type PeerChange =
  | { readonly action: "create"; readonly peer: Peer }
  | { readonly action: "update"; readonly peer: Peer; readonly held: HeldPeer }
  /** A kept Peer loses routes; nothing else of it changes, but that it gets the keepalive back which a move took from it. */
  | { readonly action: "shrink"; readonly held: HeldPeer; readonly routes: readonly string[] }
  | { readonly action: "delete"; readonly held: HeldPeer };

/** What to write so that the target holds the plan. Nothing that is not ours is in it. */
export function diffPeers(plan: KnownPlan): PeerChange[] {
  const { ours, peers, unsettled, kept } = plan;
  const writes = unsettled.flatMap((peer): PeerChange[] => {
    const held = heldWithName(plan, peer.name);
    if (!held) return [{ action: "create", peer }];
    return samePeer(peer, held) ? [] : [{ action: "update", peer, held }];
  });
  const shrinks = kept.flatMap(({ held, routes }): PeerChange[] => {
    if (sameTexts(routes, held.allowedIps) && !keptMark(held.move)) return [];
    return routes.length > 0 ? [{ action: "shrink", held, routes }] : [{ action: "delete", held }];
  });
  const isAllUsed = writes.every(isInPlace) && peers.length + kept.length === ours.length;
  const unwanted = isAllUsed ? [] : unused(ours, [...peers, ...kept.map(({ held }) => held)]);
  // Asked once more, it would seem to be gone, and nobody would hear that it is not.
  const deletes = unwanted.filter(({ isTerminating }) => !isTerminating);
  return [...writes, ...shrinks, ...deletes.map((held): PeerChange => ({ action: "delete", held }))];
}

/** Then every Peer has one of its own: keys are wanted once, and what is kept is not wanted. */
const isInPlace = (change: PeerChange): boolean =>
  change.action === "update" && change.held.publicKey === change.peer.publicKey;

function unused(ours: readonly HeldPeer[], used: readonly { readonly name: PeerName }[]): HeldPeer[] {
  const names = new Set(used.map(({ name }) => name));
  return ours.filter(({ name }) => !names.has(name));
}
