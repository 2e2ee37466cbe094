import { adoptPeers, ghostsAmong } from "./adopt.ts";
import type { RefusedClaim } from "./claims.ts";
import type { ConnectionId } from "./ids.ts";
import { type JudgedSource, judgeSources } from "./judge.ts";
import { type KeptPeer, keptPeers } from "./kept.ts";
import { settleKeys } from "./keys.ts";
import { replacedNotes } from "./leave.ts";
import { chooseNames } from "./names.ts";
import type { SkippedNode } from "./node.ts";
import { conflictNotes, type Note } from "./notes.ts";
import { type HeldPeer, mergeByPublicKey, type Peer } from "./peer.ts";
import { promisedTo } from "./promised.ts";
import { settleReach } from "./reach.ts";
import { type Candidate, type RenderContext, renderSource } from "./render.ts";
import { serversOf } from "./servers.ts";
import { settleRoutes } from "./settle-routes.ts";
import { withSilentOwners } from "./silent-owners.ts";
import type { SourceId } from "./source.ts";
import { sourceNotes } from "./source-notes.ts";
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
      readonly peers: readonly Peer[];
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
      /** Routes that somebody else has. */
      readonly refused: readonly RefusedClaim[];
      readonly sources: readonly SourcePlan[];
    };

export type KnownPlan = Extract<Plan, { state: "known" }>;

/** The Peers that should exist in `target`: a pure function of the world, the same for any order of its facts. */
export function planTarget(world: World, target: ConnectionId): Plan {
  const view = world.clusters.get(target);
  const observed = view?.peers ?? { state: "unknown", reason: "Connecting" };
  if (observed.state === "unknown") return { state: "unknown", target, reason: observed.reason };
  const held = adoptPeers(world, target, observed.items);
  const ours = held.filter(({ instance }) => instance === world.instance);
  const foreign = held.filter(({ instance }) => instance !== world.instance);
  const foreignKeys = new Set(foreign.map(({ publicKey }) => publicKey));
  const { heldByKey, doubled } = survivors(ours);
  const judged = judgeSources(world, target, heldByKey);
  const { sources, refused: keyless } = settleKeys({ world, target, sources: judged, heldByKey });
  const kept = keptPeers({ world, target, ours, sources });
  const servers = serversOf(world);
  const context = { ...world, servers: servers.addresses, promised: promisedTo(judged), heldByKey, kept, foreignKeys };
  const rendered = sources.flatMap((source) => renderSource(source, context));
  const { free, taken, rivalled } = splitTaken(mergeByPublicKey(rendered), context);
  const reached = settleReach({ candidates: free, view, ...context });
  const carried = reached.reachable.map(withSilentOwners({ world, target, sources, heldByKey }));
  const { peers, refused } = settleRoutes({ world, target, candidates: carried, foreign, kept, heldByKey });
  const named = chooseNames({ ...world, wanted: peers, held, heldByKey, kept });
  return {
    state: "known",
    ghosts: ghostsAmong(world, observed.items).length,
    target,
    ours,
    peers: named.map((peer) => (doubled.has(peer.publicKey) ? { ...peer, touchPending: true } : peer)),
    kept,
    taken: [...taken, ...keyless.flatMap((source) => renderSource(source, context))],
    rivalled,
    unresolved: reached.unresolved,
    refused,
    names: [...namesIn(rendered), ...servers.names],
    notes: [
      ...replacedNotes(world, target),
      ...reached.notes,
      ...sourceNotes(sources, servers.isAsked ? rendered : []),
      ...conflictNotes(rendered),
    ],
    ...(reached.afterMs !== undefined && { afterMs: reached.afterMs }),
    sources: judged.map(sourcePlan),
  };
}

const namesIn = (candidates: readonly Candidate[]): string[] =>
  candidates.flatMap(({ endpoint: { host } }) => ("dns" in host ? [host.dns] : []));

/** Of several Peers of ours with one key the first by name survives; an anchor of old never does. */
function survivors(ours: readonly HeldPeer[]) {
  const heldByKey = new Map<string, HeldPeer>();
  const doubled = new Set<string>();
  for (const peer of ours) {
    const other = heldByKey.get(peer.publicKey);
    if (other) doubled.add(peer.publicKey);
    if (!other || goesBefore(peer, other)) heldByKey.set(peer.publicKey, peer);
  }
  return { heldByKey, doubled };
}

function goesBefore(a: HeldPeer, b: HeldPeer): boolean {
  const isAnchor = ({ name }: HeldPeer): boolean => name.endsWith("--anchor");
  return isAnchor(a) === isAnchor(b) ? a.name < b.name : isAnchor(b);
}

function sourcePlan({ mesh, source, admitted, skipped }: JudgedSource): SourcePlan {
  return { mesh, source, nodes: admitted.length, skipped };
}

/** A second Peer with one key takes the routes of the first away: where somebody else has the key first, we stay away. */
function splitTaken(wanted: readonly Candidate[], { foreignKeys, heldByKey }: RenderContext) {
  const isForeign = ({ publicKey }: Candidate): boolean => foreignKeys.has(publicKey);
  const isTaken = (peer: Candidate): boolean => isForeign(peer) && !heldByKey.has(peer.publicKey);
  const free = wanted.filter((peer) => !isTaken(peer));
  return { free, taken: wanted.filter(isTaken), rivalled: free.filter(isForeign) };
}
