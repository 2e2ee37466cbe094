import { adoptPeers, ghostsAmong } from "./adopt.ts";
import type { HeldClaim } from "./claims.ts";
import type { Roster } from "./holding.ts";
import type { ConnectionId } from "./ids.ts";
import { type JudgedSource, judgeSources } from "./judge.ts";
import { type KeptPeer, keptPeers } from "./kept.ts";
import { settleKeys } from "./keys.ts";
import { replacedNotes } from "./leave.ts";
import { leastOf } from "./many.ts";
import { rankOf } from "./mesh.ts";
import type { SkippedNode } from "./node.ts";
import type { Note } from "./notes.ts";
import type { HeldPeer, Peer } from "./peer.ts";
import type { Promises } from "./promised.ts";
import { Recall } from "./recall.ts";
import { renderSource } from "./render.ts";
import { settlePeers } from "./settle-peers.ts";
import { placeShares, renderInput, renderShare, shareOut, stakesOf } from "./shares.ts";
import { silentIn } from "./silent-owners.ts";
import type { SourceId } from "./source.ts";
import { lastKnownCluster, type Use, usesOf } from "./uses.ts";
import type { World } from "./world.ts";

/** What one source gives to a target. */
export interface SourcePlan extends SourceId {
  readonly nodes: number;
  readonly skipped: readonly SkippedNode[];
}

export type Plan =
  | { readonly state: "unknown"; readonly target: ConnectionId; readonly reason: string }
  | {
      readonly state: "known";
      readonly target: ConnectionId;
      /** The Peers of the target that are ours to write, adopted ones among them. */
      readonly ours: readonly HeldPeer[];
      /** Who they are. */
      readonly roster: Roster;
      readonly peers: readonly Peer[];
      /** Those of them that may differ from what the target holds. */
      readonly unsettled: readonly Peer[];
      /** Peers that stay because we do not know better; they may only shrink. */
      readonly kept: readonly KeptPeer[];
      /** Wanted, but a Peer that is not ours holds the key. */
      readonly taken: readonly Peer[];
      /** Ours, although somebody else has written a Peer with the same key since. */
      readonly rivalled: readonly Peer[];
      /** Wanted, but nobody knows where: the name of the endpoint does not resolve. */
      readonly unresolved: readonly Peer[];
      /** Peers of the Go operator that no mesh explains. */
      readonly ghosts: number;
      /** The names that endpoints use. */
      readonly names: readonly string[];
      /** What works, but not as declared. */
      readonly notes: readonly Note[];
      /** When to look again although nothing is held back: an endpoint is on its way. */
      readonly afterMs?: number;
      /** Routes that somebody else keeps out. */
      readonly refused: readonly HeldClaim[];
      readonly sources: readonly SourcePlan[];
    };

export type KnownPlan = Extract<Plan, { state: "known" }>;

/**
 * The Peers that should exist in `target`: a pure function of the world, the same for any order of its facts. `recall` is
 * what earlier plans of this target leave to the next one, and changes nothing but its cost.
 */
export function planTarget(world: World, target: ConnectionId, recall = new Recall()): Plan {
  const view = world.clusters.get(target);
  if (view?.peers.state !== "known") return { state: "unknown", target, reason: view?.peers.reason ?? "Connecting" };
  const { items } = view.peers;
  const unstamped = recall.unstampedIn(items);
  const held = unstamped.length > 0 ? adoptPeers(world, target, items) : items;
  const holding = recall.tellApart({ held, instance: world.instance });
  const judged = judgeSources(world, target, { holding, recall });
  const keys = settleKeys({ world, target, sources: judged, holding, recall });
  const { sources, refused: keyless, shared, unwanted } = keys;
  const kept = keptPeers({ world, target, unwanted, sources });
  const servers = recall.serversOf({ servers: world.servers, resolved: world.resolved });
  const uses = usesOf({ sources, holding, kept, recall });
  const promised = recall.promisedTo(promisesOf(judged, uses, recall));
  const others = recall.othersOf({ foreign: holding.foreign, kept });
  const around = { world, view, holding, kept, servers, promised, uses, others };
  const rendered = sources.map((source) => renderShare(source, around, recall));
  const { shares, taken, rivalled, notes } = shareOut({ rendered, shared, holding, recall });
  const placed = placeShares(shares, { ...around, silentOf: silentIn({ world, target, sources }, recall) });
  const waitsMs = placed.flatMap((share) => share.waitsMs);
  return {
    state: "known",
    target,
    ...settlePeers({ world, target, holding, kept, others, recall, stakes: stakesOf(shares, placed) }),
    ours: holding.ours,
    roster: holding.roster,
    kept,
    ghosts: ghostsAmong(world, target, unstamped).length,
    taken: [...taken, ...keyless.flatMap((source) => renderSource(renderInput(source, around)).candidates)],
    rivalled,
    unresolved: placed.flatMap(({ unresolved }) => unresolved),
    names: [...rendered.flatMap(({ names }) => names), ...servers.names],
    notes: [...replacedNotes(world, target), ...[...placed, ...rendered].flatMap((share) => share.notes), ...notes],
    ...(waitsMs.length > 0 && { afterMs: leastOf(waitsMs) }),
    sources: judged.map(sourcePlan),
  };
}

/** A node counts here also where another cluster has its key. */
function promisesOf(sources: readonly JudgedSource[], uses: readonly Use[], recall: Recall): Promises {
  const declared = {
    entries: sources.map(({ entry }) => entry),
    connections: sources.map((source) => source.connection ?? lastKnownCluster(source, uses)),
    ranks: sources.map(({ connected }) => rankOf(connected.mesh)),
  };
  const nodes = sources.map(({ view, admitted }) => view && admitted);
  return { ...declared, usages: recall.usagesOf({ ...declared, nodes, uses }) };
}

function sourcePlan({ mesh, source, admitted, skipped }: JudgedSource): SourcePlan {
  return { mesh, source, nodes: admitted.length, skipped };
}
