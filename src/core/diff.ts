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
  const { ours } = plan;
  const heldByName = new Map(ours.map((held) => [held.name, held]));
  const stays = new Set([...plan.peers.map(({ name }) => name), ...plan.kept.map(({ held }) => held.name)]);
  const writes = plan.peers.flatMap((peer): PeerChange[] => {
    const held = heldByName.get(peer.name);
    if (!held) return [{ action: "create", peer }];
    return samePeer(peer, held) ? [] : [{ action: "update", peer, held }];
  });
  const shrinks = plan.kept.flatMap(({ held, routes }): PeerChange[] => {
    if (sameTexts(routes, held.allowedIps) && !keptMark(held.move)) return [];
    return routes.length > 0 ? [{ action: "shrink", held, routes }] : [{ action: "delete", held }];
  });
  const deletes = ours.filter(({ name }) => !stays.has(name)).map((held): PeerChange => ({ action: "delete", held }));
  return [...writes, ...shrinks, ...deletes];
}
