import { carrierOf, clusterWideOf } from "./carrier.ts";
import { type ConnectionId, peerName } from "./ids.ts";
import type { JudgedSource } from "./judge.ts";
import type { KeptPeer } from "./kept.ts";
import { meshKeepaliveSeconds } from "./mesh.ts";
import { type MeshNode, ownRoutes } from "./node.ts";
import { type HeldPeer, type Peer, uniqueRoutes } from "./peer.ts";

/** A wanted Peer before its routes are settled against those of others. */
export interface Candidate extends Peer {
  readonly roams: boolean;
  readonly pinned: boolean;
  readonly cluster: ConnectionId;
  /** Older meshes first, then by name. */
  readonly rank: string;
}

export interface RenderContext {
  readonly heldByKey: ReadonlyMap<string, HeldPeer>;
  readonly kept: readonly KeptPeer[];
  readonly digest: (text: string) => string;
}

/** What one source wants in a target. */
export function renderSource(source: JudgedSource, context: RenderContext): Candidate[] {
  const carrier = carrierOf(source, context.heldByKey, context.kept);
  return source.admitted.map((node) => renderNode(source, node, { carries: node === carrier, ...context }));
}

type NodeContext = RenderContext & { readonly carries: boolean };

function renderNode(source: JudgedSource, node: MeshNode, { carries, digest }: NodeContext): Candidate {
  const { mesh } = source.connected;
  const clusterWide = carries ? clusterWideOf(source) : [];
  return {
    name: peerName({ mesh: mesh.name, source: source.source, node: node.name }, digest),
    publicKey: node.publicKey,
    endpoint: node.endpoint,
    roams: node.roams,
    pinned: node.pinned,
    touchPending: false,
    routes: uniqueRoutes([...ownRoutes(node), ...clusterWide]),
    keepaliveSeconds: meshKeepaliveSeconds(mesh),
    mesh: mesh.name,
    source: source.source,
    node: node.name,
    owners: [mesh.id],
    cluster: source.connection ?? ("" as ConnectionId),
    rank: `${mesh.createdAt} ${mesh.id}`,
  };
}
