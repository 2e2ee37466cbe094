import { adoptPeers, ghostsAmong } from "./adopt.ts";
import { type Cidr, exactly, networksIn } from "./cidr.ts";
import { type Claim, entangledPeers, type RefusedClaim, settleClaims } from "./claims.ts";
import { endpointRoutes } from "./endpoint.ts";
import type { ConnectionId } from "./ids.ts";
import { type JudgedSource, judgeSources } from "./judge.ts";
import { type KeptPeer, keptPeers } from "./kept.ts";
import { settleKeys } from "./keys.ts";
import { replacedNotes } from "./leave.ts";
import { chooseNames } from "./names.ts";
import type { SkippedNode } from "./node.ts";
import { conflictNotes, type Note } from "./notes.ts";
import { onceFor } from "./once-per.ts";
import { type HeldPeer, mergeByPublicKey, type Peer, routesOf } from "./peer.ts";
import { promisedTo } from "./promised.ts";
import { mayRoute, protectionOf } from "./protect.ts";
import { aggregate } from "./ranges.ts";
import { settleReach } from "./reach.ts";
import { type Candidate, type RenderContext, renderSource } from "./render.ts";
import { serversOf } from "./servers.ts";
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

interface Settling {
  readonly heldByKey: ReadonlyMap<string, HeldPeer>;
  readonly world: World;
  readonly target: ConnectionId;
  readonly candidates: readonly Candidate[];
  readonly foreign: readonly HeldPeer[];
  readonly kept: readonly KeptPeer[];
}

/** Each Peer with the routes that the target can bear and nobody else has. */
function settleRoutes({ world, target, candidates, foreign, kept, heldByKey }: Settling) {
  const all = [...candidates, ...foreign, ...kept.map(({ held }) => held)];
  const endpoints = all.flatMap(({ endpoint }) => (endpoint ? endpointRoutes(endpoint) : []));
  const protection = protectionOf(world, target, endpoints);
  const claims = candidates.flatMap((candidate) =>
    claimsOf(candidate, heldByKey.get(candidate.publicKey)).filter(({ route }) => mayRoute(protection, route)),
  );
  const others = new Set([
    ...foreign.flatMap((held) => incumbents(held, held.allowedIps, held.publicKey)),
    ...kept.flatMap(({ held, routes, cluster }) => incumbents(held, routes, cluster ?? held.publicKey)),
  ]);
  const settled = settleClaims([...claims, ...others]);
  const entangled = entangledPeers(settled);
  const won = Map.groupBy(
    settled.granted.filter((claim) => !others.has(claim)),
    ({ peer }) => peer,
  );
  const peers = candidates.map((candidate): Peer => {
    const routes = (won.get(candidate.publicKey) ?? []).map(({ route }) => route);
    if (entangled.has(candidate.publicKey)) return asPeer(candidate, { routes, inPieces: true });
    return routes.length === candidate.routes.length
      ? wholePeer(candidate)
      : asPeer(candidate, { routes: aggregate(routes), inPieces: false });
  });
  return { peers: peers.filter(({ routes }) => routes.length > 0), refused: settled.refused };
}

/** With all that it wants. */
const wholePeer = onceFor((candidate: Candidate) =>
  asPeer(candidate, { routes: exactly(aggregate(candidate.routes)), inPieces: false }),
);

function asPeer(candidate: Candidate, { routes, inPieces }: Pick<Peer, "routes" | "inPieces">): Peer {
  const { name, publicKey, endpoint, keepaliveSeconds, mesh, source, node, owners } = candidate;
  const { touchPending, declared, move, mayLackEndpoint } = candidate;
  const written = { name, publicKey, endpoint, routes, keepaliveSeconds, mesh, source, node, owners };
  return { ...written, touchPending, declared, move, mayLackEndpoint, inPieces };
}

function claimsOf(candidate: Candidate, held: HeldPeer | undefined): readonly Claim[] {
  const there = routesOf(held);
  const isThere = candidate.routes.map((route) => there.covers(route));
  if (isThere.every(Boolean)) return incumbentClaims(candidate);
  return candidate.routes.map((route, index) => claimFor(candidate, route, isThere[index] ?? false));
}

/** Of a Peer that is as it should be: so nearly all are. */
const incumbentClaims = onceFor((candidate: Candidate): readonly Claim[] =>
  candidate.routes.map((route) => claimFor(candidate, route, true)),
);

function claimFor({ publicKey, cluster, rank }: Candidate, route: Cidr, incumbent: boolean): Claim {
  return { peer: publicKey, cluster, route, incumbent, rank };
}

/** What is on a Peer that we do not plan now is there, and works. */
function incumbents({ publicKey }: HeldPeer, allowedIps: readonly string[], cluster: string): Claim[] {
  return networksIn(allowedIps).map((route) => ({ peer: publicKey, cluster, route, incumbent: true, rank: "" }));
}
