import { parseCidr } from "./cidr.ts";
import { type Claim, type RefusedClaim, settleClaims } from "./claims.ts";
import { hostText } from "./endpoint.ts";
import type { ConnectionId } from "./ids.ts";
import { type JudgedSource, judgeSources } from "./judge.ts";
import { type KeptPeer, keptPeers, silentOwners } from "./kept.ts";
import { chooseNames } from "./names.ts";
import type { SkippedNode } from "./node.ts";
import { type HeldPeer, mergeByPublicKey, type Peer, uniqueRoutes } from "./peer.ts";
import { mayRoute, protectionOf } from "./protect.ts";
import { type Candidate, placeholders, renderSource } from "./render.ts";
import type { SourceId } from "./source.ts";
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
      readonly peers: readonly Peer[];
      /** Peers that stay because we do not know better; they may only shrink. */
      readonly kept: readonly KeptPeer[];
      /** Wanted, but a Peer that is not ours holds the key. */
      readonly taken: readonly Peer[];
      /** Routes that somebody else has. */
      readonly refused: readonly RefusedClaim[];
      readonly sources: readonly SourcePlan[];
    };

export type KnownPlan = Extract<Plan, { state: "known" }>;

/** The Peers that should exist in `target`: a pure function of the world, the same for any order of its facts. */
export function planTarget(world: World, target: ConnectionId): Plan {
  const held = world.clusters.get(target)?.peers ?? { state: "unknown", reason: "Connecting" };
  if (held.state === "unknown") return { state: "unknown", target, reason: held.reason };
  const ours = held.items.filter(({ instance }) => instance === world.instance);
  const foreign = held.items.filter(({ instance }) => instance !== world.instance);
  const heldByKey = new Map(ours.map((peer) => [peer.publicKey, peer]));
  const sources = judgeSources(world, target);
  const kept = keptPeers({ world, target, ours, sources });
  const rendered = sources.flatMap((source) => renderSource(source, { heldByKey, kept, digest: world.digest }));
  const merged = placeholders(mergeByPublicKey(rendered));
  const { free, taken } = splitTaken(merged, foreign, heldByKey);
  const carried = free.map((peer) => withSilentOwners(peer, world, { heldByKey, sources }));
  const { peers, refused } = settleRoutes({ world, target, candidates: carried, foreign, kept, heldByKey });
  const named = chooseNames({ wanted: peers, held: held.items, kept, instance: world.instance, digest: world.digest });
  return { state: "known", target, peers: named, kept, taken, refused, sources: sources.map(sourcePlan) };
}

function sourcePlan({ mesh, source, admitted, skipped }: JudgedSource): SourcePlan {
  return { mesh, source, nodes: admitted.length, skipped };
}

/** A second Peer with one key takes the routes of the first away: where somebody else has the key first, we stay away. */
function splitTaken(wanted: readonly Candidate[], foreign: readonly HeldPeer[], ours: ReadonlyMap<string, HeldPeer>) {
  const keys = new Set<string>(foreign.map(({ publicKey }) => publicKey));
  const isTaken = ({ publicKey }: Candidate): boolean => keys.has(publicKey) && !ours.has(publicKey);
  return { free: wanted.filter((peer) => !isTaken(peer)), taken: wanted.filter(isTaken) };
}

interface Judgement {
  readonly heldByKey: ReadonlyMap<string, HeldPeer>;
  readonly sources: readonly JudgedSource[];
}

/** Owners of whom nothing is known keep their share of a Peer that others want too. */
function withSilentOwners(peer: Candidate, world: World, { heldByKey, sources }: Judgement): Candidate {
  const held = heldByKey.get(peer.publicKey);
  const silent = held ? silentOwners(world, held, sources).filter((owner) => !peer.owners.includes(owner)) : [];
  if (!held || silent.length === 0) return peer;
  const routes = held.allowedIps.flatMap((text) => parseCidr(text) ?? []);
  const owners = [...peer.owners, ...silent].sort();
  return { ...peer, owners, routes: uniqueRoutes([...peer.routes, ...routes]) };
}

interface Settling extends Pick<Judgement, "heldByKey"> {
  readonly world: World;
  readonly target: ConnectionId;
  readonly candidates: readonly Candidate[];
  readonly foreign: readonly HeldPeer[];
  readonly kept: readonly KeptPeer[];
}

/** Each Peer with the routes that the target can bear and nobody else has. */
function settleRoutes({ world, target, candidates, foreign, kept, heldByKey }: Settling) {
  const endpoints = [...candidates, ...foreign].flatMap(({ endpoint }) => (endpoint ? hostText(endpoint) : []));
  const protection = protectionOf(world, target, endpoints);
  const claims = candidates.flatMap((peer) =>
    peer.routes.filter((route) => mayRoute(protection, route)).map((route) => claimOf(peer, route, heldByKey)),
  );
  const others = [
    ...foreign.flatMap((held) => incumbents(held, held.allowedIps, held.publicKey)),
    ...kept.flatMap(({ held, routes, cluster }) => incumbents(held, routes, cluster ?? held.publicKey)),
  ];
  const { granted, refused } = settleClaims([...claims, ...others]);
  const routesOf = new Map<string, Claim[]>();
  for (const claim of granted) routesOf.set(claim.peer, [...(routesOf.get(claim.peer) ?? []), claim]);
  const peers = candidates.map(({ roams: _, cluster: __, rank: ___, ...peer }): Peer => {
    return { ...peer, routes: uniqueRoutes((routesOf.get(peer.publicKey) ?? []).map(({ route }) => route)) };
  });
  return { peers: peers.filter(({ routes }) => routes.length > 0), refused };
}

function claimOf(peer: Candidate, route: Claim["route"], heldByKey: ReadonlyMap<string, HeldPeer>): Claim {
  const incumbent = heldByKey.get(peer.publicKey)?.allowedIps.includes(route.text) ?? false;
  return { peer: peer.publicKey, cluster: peer.cluster, route, incumbent, rank: peer.rank };
}

/** What is on a Peer that we do not plan now is there, and works. */
function incumbents({ publicKey }: HeldPeer, allowedIps: readonly string[], cluster: string): Claim[] {
  const routes = allowedIps.flatMap((text) => parseCidr(text) ?? []);
  return routes.map((route) => ({ peer: publicKey, cluster, route, incumbent: true, rank: "" }));
}
