import { isNamesake, isSameCluster } from "./called.ts";
import type { ConnectionId } from "./ids.ts";
import type { JudgedSource } from "./judge.ts";
import { allowedKeeper, anyOf, entriesKeeper, routesInto, sourceKeeper } from "./kept-routes.ts";
import type { MeshEntry } from "./mesh.ts";
import { oncePer } from "./once-per.ts";
import type { HeldPeer } from "./peer.ts";
import { skipReasons } from "./reasons.ts";
import { doorsTo, entriesBehind } from "./same-cluster.ts";
import { compareTexts } from "./texts.ts";
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

export interface KeepingInput {
  readonly world: World;
  readonly target: ConnectionId;
  readonly sources: readonly JudgedSource[];
}

export interface KeptInput extends KeepingInput {
  /** Peers of ours that no node wants. */
  readonly unwanted: readonly HeldPeer[];
}

/** How long a Peer outlives the annotations of its node: a restart of Kilo takes them off for seconds. */
export const strippedGraceMs = 180_000;

/** A withdrawal needs proof. No node wants these Peers, and nothing proves yet that they may go. */
export function keptPeers({ unwanted, ...input }: KeptInput): KeptPeer[] {
  if (unwanted.length === 0) return [];
  const whyKept = keeping(input);
  return unwanted.flatMap((held) => {
    const why = whyKept(held);
    return why ? [{ held, ...why }] : [];
  });
}

export type Why = Omit<KeptPeer, "held">;

/** Says of Peers of one target why they would stay if no node wanted them now. */
export function keeping(input: KeepingInput): (held: HeldPeer) => Why | undefined {
  const allowed = allowedKeeper(input.world.allowedCidrs);
  const answersFor = answering(input);
  return (held) => {
    const answers = answersFor(held);
    const [first] = answers.length > 1 ? answers.toSorted(byReason) : answers;
    const routes = answers.map((why) => why.routes);
    return first && { ...first, routes: allowed(anyOf(held, routes)) };
  };
}

/** Whose word it is does not depend on who is asked first; who knows the cluster goes before who has lost it. */
function byReason(a: Why, b: Why): number {
  if (!a.cluster !== !b.cluster) return a.cluster ? -1 : 1;
  return compareTexts(a.reason, b.reason) || compareTexts(a.cluster ?? "", b.cluster ?? "");
}

/** Everybody who would keep a Peer, with what of it. */
function answering({ world, target, sources }: KeepingInput): (held: HeldPeer) => readonly Why[] {
  const meshes = new Map(world.meshes.map((connected) => [connected.mesh.id, connected]));
  const elsewhereOf = oncePer((owner: ConnectedMesh) => elsewhereKeeping(owner, doorsTo(world, owner, target)));
  const keeperOf = oncePer(sourceKeeping);
  return (held) => {
    if (held.owners.some((owner) => world.refused.has(owner)))
      return [{ reason: "MeshNotAccepted", routes: held.allowedIps }];
    const living = held.owners.flatMap((owner) => meshes.get(owner) ?? []);
    const { asked, silent } = sourcesBehind(held, sources);
    const elsewhere = living.flatMap((owner) => elsewhereOf(owner)(held) ?? []);
    const answers = [...elsewhere, ...asked.flatMap((source) => keeperOf(source)(held) ?? [])];
    const others = answers.length > 0 ? silent.flatMap((source) => keeperOf(source)(held) ?? []) : [];
    return [...answers, ...others];
  };
}

/**
 * Who can say whether a Peer is wanted: the source it is named after, and what its other owners call the same cluster.
 * `silent` are the unknown sources of owners that have none of these: one of them may be the same cluster as well.
 */
function sourcesBehind(held: HeldPeer, sources: readonly JudgedSource[]) {
  const living = sources.filter(({ mesh }) => held.owners.includes(mesh));
  const named = living.filter((source) => isNamesake(source, held));
  const clusters = named.flatMap(({ connection }) => connection ?? []);
  const asked = living.filter((source) => named.includes(source) || isSameCluster(source, clusters, held));
  const isAsked = new Set(asked.map(({ mesh }) => mesh));
  const silent = living.filter((source) => !source.view && !isAsked.has(source.mesh) && routesInto(source.entry, held));
  return asked.length > 0 ? { asked, silent } : { asked: silent, silent: [] };
}

/** What an owner keeps that is no source here, but may hold this cluster through another connection. */
function elsewhereKeeping({ mesh }: ConnectedMesh, doors: readonly MeshEntry[]): (held: HeldPeer) => Why | undefined {
  return (held) => {
    const behind = entriesBehind({ entries: mesh.entries, doors }, held);
    return behind.length > 0 ? { reason: "OwnedElsewhere", routes: entriesKeeper(behind)(held) } : undefined;
  };
}

/** What one source says of the Peers of its nodes. */
function sourceKeeping(source: JudgedSource): (held: HeldPeer) => Why | undefined {
  const { view, connection: cluster, admitted } = source;
  const routesOf = sourceKeeper(source);
  if (!view || !cluster) return (held) => ({ reason: "SourceUnknown", routes: routesOf(held) });
  const isAdmitted = new Set(admitted.map(({ name }) => name));
  const absent = absentKeeping(view, cluster);
  const skipped = skippedKeeping(source, view);
  return (held) => {
    const why = isAdmitted.has(held.node) ? undefined : (absent(held) ?? skipped(held));
    return why && { ...why, cluster, routes: routesOf(held) };
  };
}

type Reason = Omit<Why, "routes">;

function absentKeeping(view: ClusterView, proof: ConnectionId): (held: HeldPeer) => Reason | undefined {
  const isListed = new Set(view.nodes.state === "known" ? view.nodes.items.map(({ name }) => name) : []);
  const departures = new Map(view.departures.map((departure) => [departure.name, departure]));
  return ({ node }) => {
    if (isListed.has(node)) return undefined;
    const departure = departures.get(node);
    if (!departure) return view.absenceProven ? undefined : { reason: "WithdrawalHeld", proof };
    if (departure.afterMs === 0) return undefined;
    const why = { reason: "NodeDeparting", afterMs: departure.afterMs } as const;
    return departure.needsList ? { ...why, proof } : why;
  };
}

function skippedKeeping({ skipped }: JudgedSource, view: ClusterView): (held: HeldPeer) => Reason | undefined {
  const reasons = new Map(skipped.map(({ name, reason }) => [name, reason]));
  return ({ node }) => {
    const reason = reasons.get(node);
    const rule = reason && skipReasons[reason].peer;
    if (rule === "keep") return { reason: "NodeNotReady" };
    const afterMs = strippedGraceMs - (view.strippedMs.get(node) ?? 0);
    return rule === "grace" && afterMs > 0 ? { reason: "NodeNotReady", afterMs } : undefined;
  };
}
