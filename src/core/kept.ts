import { type Cidr, parseCidr } from "./cidr.ts";
import type { ConnectionId } from "./ids.ts";
import type { JudgedSource } from "./judge.ts";
import { declaredNetworks } from "./mesh.ts";
import { ownRoutes } from "./node.ts";
import type { HeldPeer } from "./peer.ts";
import { rangesOf } from "./ranges.ts";
import { skipReasons } from "./reasons.ts";
import { isIn } from "./source.ts";
import type { ClusterView, ConnectedMesh, World } from "./world.ts";

/** Why an existing Peer that is not wanted stays for now. */
export type KeptReason =
  | "MeshNotAccepted"
  | "OwnedElsewhere"
  | "SourceUnknown"
  | "NodeDeparting"
  | "NodeNotReady"
  | "WithdrawalHeld";

export interface KeptPeer {
  readonly held: HeldPeer;
  readonly reason: KeptReason;
  /** What it may keep of its routes: a kept Peer never grows. */
  readonly routes: readonly string[];
  /** When to look again, if time alone can change the answer. */
  readonly afterMs?: number;
  /** The cluster it comes from, where that is known. */
  readonly cluster?: ConnectionId;
  /** The cluster whose next complete list can prove that the node is gone. */
  readonly proof?: ConnectionId;
}

export interface KeptInput {
  readonly world: World;
  readonly target: ConnectionId;
  readonly ours: readonly HeldPeer[];
  readonly sources: readonly JudgedSource[];
}

/** How long a Peer outlives the annotations of its node: a restart of Kilo takes them off for seconds. */
export const strippedGraceMs = 180_000;

/** A withdrawal needs proof. No node wants these Peers, and nothing proves yet that they may go. */
export function keptPeers({ world, target, ours, sources }: KeptInput): KeptPeer[] {
  const wantedKeys = new Set<string>(sources.flatMap(({ admitted }) => admitted.map(({ publicKey }) => publicKey)));
  return ours
    .filter(({ publicKey }) => !wantedKeys.has(publicKey))
    .flatMap((held) => {
      const why = whyKept({ world, target, held, sources });
      return why ? [{ held, routes: held.allowedIps, ...why }] : [];
    });
}

/** The owners of a Peer of whose wishes nothing is known now. What they asked for is not taken from it. */
export function silentOwners(world: World, held: HeldPeer, sources: readonly JudgedSource[]): HeldPeer["owners"] {
  return held.owners.filter(
    (owner) => world.refused.has(owner) || sources.some(({ mesh, view }) => mesh === owner && !view),
  );
}

type Why = Omit<KeptPeer, "held" | "routes"> & { readonly routes?: readonly string[] };

interface Question {
  readonly world: World;
  readonly target: ConnectionId;
  readonly held: HeldPeer;
  readonly sources: readonly JudgedSource[];
}

/** True when the Peer would stay if no node wanted it now. */
export function isKept(question: Question): boolean {
  return whyKept(question) !== undefined;
}

function whyKept({ world, target, held, sources }: Question): Why | undefined {
  if (held.owners.some((owner) => world.refused.has(owner)))
    return { reason: "MeshNotAccepted", routes: allowedRoutes(held, world) };
  const owners = world.meshes.filter(({ mesh }) => held.owners.includes(mesh.id));
  if (owners.some((owner) => reachesElsewhere(world, owner, target))) return { reason: "OwnedElsewhere" };
  const living = sources.filter(({ mesh }) => held.owners.includes(mesh));
  const named = living.filter(({ source }) => source === held.source);
  // Another owner may call the same cluster by another name: while that one is unknown, it may want the Peer.
  const candidates = named.length > 0 ? named : living.filter(({ view }) => !view);
  const answers = candidates.map((source) => whySourceKeeps(held, source));
  return answers.find((why) => why !== undefined);
}

/** An owner may hold this cluster through credentials of its own: then its Peers here are that connection's business. */
export function reachesElsewhere(world: World, owner: ConnectedMesh, target: ConnectionId): boolean {
  if (isIn(owner, target)) return false;
  const here = uidsOf(world, target);
  return [...owner.connections.values()].some((connection) => {
    const there = connection.state === "connected" ? uidsOf(world, connection.id) : undefined;
    return !here || !there || [...there].some((uid) => here.has(uid));
  });
}

/** The UIDs of its nodes, while they are known. */
export function uidsOf(world: World, id: ConnectionId): Set<string> | undefined {
  const nodes = world.clusters.get(id)?.nodes;
  return nodes?.state === "known" ? new Set(nodes.items.map(({ uid }) => uid)) : undefined;
}

function whySourceKeeps(held: HeldPeer, source: JudgedSource): Why | undefined {
  const { view, connection: cluster } = source;
  if (!view || !cluster) return { reason: "SourceUnknown", routes: coveredRoutes(held, source) };
  if (source.admitted.some(({ name }) => name === held.node)) return undefined;
  const why = whyAbsentKeeps(held, view, cluster) ?? whySkippedKeeps(held, source, view);
  return why && { ...why, cluster, routes: unclaimedRoutes(held, source) };
}

function whyAbsentKeeps({ node }: HeldPeer, view: ClusterView, proof: ConnectionId): Why | undefined {
  if (view.nodes.state === "known" && view.nodes.items.some(({ name }) => name === node)) return undefined;
  const departure = view.departures.find(({ name }) => name === node);
  if (departure?.afterMs === 0) return undefined;
  if (departure) {
    const why = { reason: "NodeDeparting", afterMs: departure.afterMs } as const;
    return departure.needsList ? { ...why, proof } : why;
  }
  return view.absenceProven ? undefined : { reason: "WithdrawalHeld", proof };
}

function whySkippedKeeps({ node }: HeldPeer, { skipped }: JudgedSource, view: ClusterView): Why | undefined {
  const reason = skipped.find(({ name }) => name === node)?.reason;
  const rule = reason && skipReasons[reason].peer;
  if (rule === "keep") return { reason: "NodeNotReady" };
  const afterMs = strippedGraceMs - (view.strippedMs.get(node) ?? 0);
  return rule === "grace" && afterMs > 0 ? { reason: "NodeNotReady", afterMs } : undefined;
}

/** What the operator's owner still allows: that is taken back from any Peer. */
function allowedRoutes({ allowedIps }: HeldPeer, { allowedCidrs }: World): readonly string[] {
  return allowedCidrs.length === 0 ? allowedIps : routesIn(allowedIps, rangesOf(allowedCidrs).covers);
}

/** What the present spec still covers: a network that was revoked is taken back also from a source we cannot see. */
function coveredRoutes({ allowedIps }: HeldPeer, { entry }: JudgedSource): string[] {
  const declared = rangesOf(declaredNetworks(entry));
  return routesIn(allowedIps, (route) => declared.covers(route) || (entry.networks.form === "flat" && isHost(route)));
}

const isHost = ({ family, prefix }: Cidr): boolean => prefix === (family === 4 ? 32 : 128);

/** What no admitted node of the same source has taken over. */
function unclaimedRoutes(held: HeldPeer, source: JudgedSource): string[] {
  const claimed = rangesOf(source.admitted.flatMap(ownRoutes));
  return routesIn(coveredRoutes(held, source), (route) => !claimed.covers(route));
}

function routesIn(texts: readonly string[], isGood: (route: Cidr) => boolean): string[] {
  return texts.filter((text) => {
    const route = parseCidr(text);
    return route !== undefined && isGood(route);
  });
}
