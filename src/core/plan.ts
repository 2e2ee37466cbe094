import { admitNodes } from "./admit.ts";
import { carrierOf } from "./carrier.ts";
import { type ConnectionId, peerName } from "./ids.ts";
import { type KeptPeer, keptPeers } from "./kept.ts";
import { meshKeepaliveSeconds } from "./mesh.ts";
import { chooseNames } from "./names.ts";
import type { MeshNode, SkippedNode } from "./node.ts";
import { type HeldPeer, mergeByPublicKey, type Peer, uniqueRoutes } from "./peer.ts";
import { type Source, type SourceId, sourcesOf } from "./source.ts";
import { nodesBehind, type World } from "./world.ts";

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
      /** Peers that stay as they are because we do not know better. */
      readonly kept: readonly KeptPeer[];
      /** Wanted, but a Peer that is not ours holds the key. */
      readonly taken: readonly Peer[];
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
  const rendered = sourcesOf(world.meshes, target).map((source) => renderSource(world, source, heldByKey));
  const merged = mergeByPublicKey(rendered.flatMap(({ peers }) => peers));
  const { free, taken } = splitTaken(merged, foreign);
  const peers = chooseNames({ wanted: free, held: held.items, instance: world.instance, digest: world.digest });
  const kept = keptPeers({ world, target, ours, wanted: peers });
  return { state: "known", target, peers, kept, taken, sources: rendered.map(({ plan }) => plan) };
}

function renderSource(world: World, source: Source, heldByKey: ReadonlyMap<string, HeldPeer>) {
  const { connected, entry } = source;
  const observed = nodesBehind(world, connected.connections.get(entry.name));
  const judged = observed.state === "known" ? admitNodes(entry, observed.items) : [];
  const nodes = judged.filter((node): node is MeshNode => node.kind === "admitted");
  const skipped = judged.filter((node): node is SkippedNode => node.kind === "skipped");
  const carrier = carrierOf(nodes, entry.clusterWide, heldByKey);
  const peers = nodes.map((node) => renderPeer(world, source, { node, carries: node === carrier }));
  const plan: SourcePlan = { mesh: source.mesh, source: source.source, nodes: nodes.length, skipped };
  return { peers, plan };
}

function renderPeer(world: World, source: Source, { node, carries }: { node: MeshNode; carries: boolean }): Peer {
  const { mesh } = source.connected;
  return {
    name: peerName({ mesh: mesh.name, source: source.source, node: node.name }, world.digest),
    publicKey: node.publicKey,
    endpoint: node.endpoint,
    routes: carries ? uniqueRoutes([...node.routes, ...source.entry.clusterWide]) : node.routes,
    keepaliveSeconds: meshKeepaliveSeconds(mesh),
    mesh: mesh.name,
    source: source.source,
    node: node.name,
    owners: [mesh.id],
  };
}

/** A Peer of somebody else is never edited, and a second one with its key would take its routes away. */
function splitTaken(wanted: readonly Peer[], foreign: readonly HeldPeer[]) {
  const keys = new Set<string>(foreign.map(({ publicKey }) => publicKey));
  return {
    free: wanted.filter(({ publicKey }) => !keys.has(publicKey)),
    taken: wanted.filter(({ publicKey }) => keys.has(publicKey)),
  };
}
