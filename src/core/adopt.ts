import { admitNode } from "./admit.ts";
import { type ConnectionId, type MeshId, type NodeName, peerName } from "./ids.ts";
import type { Mesh } from "./mesh.ts";
import type { HeldPeer } from "./peer.ts";
import { rememberedEach } from "./remembered.ts";
import { sourcesOf } from "./source.ts";
import { type DrainingMesh, nodesBehind, type World } from "./world.ts";

/**
 * The Go operator's Peers carry two labels and nothing else. One that exactly one living mesh of that name can mean is
 * ours from now on; its next write stamps it. Where none lives, the one that is being deleted has it: it goes with that one.
 * Two candidates: left alone. None: a ghost, which goes when two lists of the meshes agree; also where a mesh of that name
 * lives that has no such source, or lost it before we came.
 */
export function adoptPeers(world: World, target: ConnectionId, held: readonly HeldPeer[]): readonly HeldPeer[] {
  const owned = held.map((peer) => (isLegacy(peer) ? adopted(world, target, peer) : peer));
  return owned.map((peer) => (peer.offered && peer.instance !== world.instance ? taken(world, target, peer) : peer));
}

/**
 * A Peer that its owner offers to us is ours when a node that we may peer has its key. What we do not need stays as it is. So
 * does one whose key is, or while a cluster is unknown may be, on nodes of two clusters: everybody can write a key on a node.
 */
function taken(world: World, target: ConnectionId, peer: HeldPeer): HeldPeer {
  const sources = sourcesOf(world.meshes, target).map((source) => {
    const nodes = nodesBehind(world, source.connected.connections.get(source.entry.name));
    return { ...source, listed: nodes.state === "known" ? nodes.items : undefined };
  });
  if (sources.some(({ listed }) => !listed)) return peer;
  const bids = sources.flatMap(({ listed = [], ...source }) => {
    const node = listed.find(({ key }) => key === peer.publicKey);
    return node && admitNode(source.entry, node).kind === "admitted" ? [{ ...source, node: node.name }] : [];
  });
  const [first] = bids;
  if (!first || bids.some(({ connection }) => connection !== first.connection)) return peer;
  const { mesh, source, connected, node } = first;
  return { ...peer, instance: world.instance, owners: [mesh], source, mesh: connected.mesh.name, node, legacy: true };
}

/** Peers of the Go operator that no mesh explains. */
export function ghostsAmong(world: World, target: ConnectionId, held: readonly HeldPeer[]): HeldPeer[] {
  return held.filter((peer) => isLegacy(peer) && meantBy(world, target, peer) === "nobody");
}

/** Finds those that may become ours: in each list by what differs from the one before. */
export function findingUnstamped(): (held: readonly HeldPeer[]) => readonly HeldPeer[] {
  const isUnstamped = rememberedEach((peer: HeldPeer) => isLegacy(peer) || peer.offered);
  return (held) => {
    const found = isUnstamped(held);
    return held.filter((_, index) => found[index]);
  };
}

const isLegacy = ({ instance, mesh, source, owners }: HeldPeer): boolean =>
  instance === "" && mesh !== "" && source !== "" && owners.length === 0;

function adopted(world: World, target: ConnectionId, peer: HeldPeer): HeldPeer {
  const meant = meantBy(world, target, peer);
  if (meant === "nobody") return world.ghostsMayGo ? { ...peer, instance: world.instance, legacy: true } : peer;
  if (meant === "unclear") return peer;
  return { ...peer, instance: world.instance, owners: [meant], node: nodeOf(world, peer), legacy: true };
}

/**
 * The one living mesh of its name that has its source. A mesh that is not accepted may have it as well. A mesh of that name
 * without that source does not mean it: it may be the namesake of one that another operator serves. One that is being deleted
 * means only what its own clusters hold.
 */
function meantBy(world: World, target: ConnectionId, { mesh: name, source }: HeldPeer): MeshId | "nobody" | "unclear" {
  const has = (mesh: Mesh): boolean => mesh.name === name && mesh.entries.some((entry) => entry.name === source);
  const isHere = (id: ConnectionId): boolean => (world.twins.get(id) ?? id) === target;
  const had = (mesh: DrainingMesh): boolean =>
    mesh.name === name && mesh.sources.includes(source) && mesh.clusters.some(isHere);
  const living = world.meshes.map(({ mesh }) => mesh).filter(has);
  const candidates = living.length > 0 ? living : world.draining.filter(had);
  const isRefused = [...world.refused].some((id) => id.endsWith(`/${name}`));
  return isRefused || candidates.length > 1 ? "unclear" : (candidates[0]?.id ?? "nobody");
}

/** The node whose key it holds, else the one whose Peer the Go operator would call so. */
function nodeOf(world: World, peer: HeldPeer): NodeName {
  const nodes = world.meshes.flatMap(({ mesh, connections }) => {
    const connection = mesh.name === peer.mesh ? connections.get(peer.source) : undefined;
    const view = connection?.state === "connected" ? world.clusters.get(connection.id) : undefined;
    const listed = view?.nodes.state === "known" ? view.nodes.items : [];
    const left = (view?.departures ?? []).map(({ name }) => ({ name, key: "" }));
    return [...listed, ...left];
  });
  const byKey = nodes.find(({ key }) => key === peer.publicKey);
  const isNamed = (node: NodeName): boolean =>
    peerName({ mesh: peer.mesh, source: peer.source, node }, world.digest) === peer.name;
  return byKey?.name ?? nodes.find(({ name }) => isNamed(name))?.name ?? peer.node;
}
