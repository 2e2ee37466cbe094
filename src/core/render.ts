import { type CarrierContext, carrierOf, clusterWideOf } from "./carrier.ts";
import type { Cidr } from "./cidr.ts";
import { type ConnectionId, peerName } from "./ids.ts";
import type { JudgedSource } from "./judge.ts";
import { declaredNetworks, meshKeepaliveSeconds, rankOf } from "./mesh.ts";
import { type MeshNode, ownRoutes } from "./node.ts";
import { type Peer, routesOf, uniqueRoutes } from "./peer.ts";
import { type Promised, trespasses } from "./promised.ts";
import { type Ranges, rangesOf } from "./ranges.ts";

/** A wanted Peer before its routes are settled against those of others. */
export interface Candidate extends Peer {
  readonly roams: boolean;
  readonly pinned: boolean;
  readonly cluster: ConnectionId;
  /** Older meshes first, then by name. */
  readonly rank: string;
  /** Routes that would lead to an API server that we use, and that nobody declared. */
  readonly withheld: readonly Cidr[];
}

export interface RenderContext extends CarrierContext {
  readonly servers: Ranges;
  readonly promised: readonly Promised[];
  readonly digest: (text: string) => string;
}

/** What one source wants in a target. */
export function renderSource(source: JudgedSource, context: RenderContext): Candidate[] {
  const carrier = carrierOf(source, context);
  return source.admitted.map((node) => renderNode(source, node, { carries: node === carrier, ...context }));
}

type NodeContext = RenderContext & { readonly carries: boolean };

function renderNode(source: JudgedSource, node: MeshNode, context: NodeContext): Candidate {
  const { mesh } = source.connected;
  const clusterWide = context.carries ? clusterWideOf(source) : [];
  const withheld = withheldFrom(source, node, context);
  const cluster = source.connection ?? ("" as ConnectionId);
  const own = ownOf(node, cluster, context).filter((route) => !withheld.includes(route));
  return {
    cluster,
    rank: rankOf(mesh),
    name: peerName({ mesh: mesh.name, source: source.source, node: node.name }, context.digest),
    publicKey: node.publicKey,
    endpoint: node.endpoint,
    roams: node.roams,
    pinned: node.pinned,
    touchPending: false,
    declared: "",
    move: "",
    mayLackEndpoint: false,
    inPieces: false,
    routes: uniqueRoutes([...own, ...clusterWide]),
    withheld,
    keepaliveSeconds: meshKeepaliveSeconds(mesh),
    mesh: mesh.name,
    source: source.source,
    node: node.name,
    owners: [mesh.id],
  };
}

/**
 * A tunnel that carries us to the API server which we need to repair it would be one that nobody can repair: such a route
 * has to be declared, or to be there already.
 */
function withheldFrom({ entry }: JudgedSource, node: MeshNode, { servers, heldByKey }: NodeContext): Cidr[] {
  const suspects = ownRoutes(node).filter((route) => servers.touches(route));
  if (suspects.length === 0) return suspects;
  const declared = rangesOf(declaredNetworks(entry));
  const held = routesOf(heldByKey.get(node.publicKey));
  return suspects.filter((route) => !declared.covers(route) && !held.covers(route));
}

/** The node's routes but those that are another cluster's. */
function ownOf(node: MeshNode, cluster: ConnectionId, { promised, heldByKey }: NodeContext): Cidr[] {
  const suspects = ownRoutes(node).filter((route) => trespasses(promised, cluster, route));
  if (suspects.length === 0) return ownRoutes(node);
  const held = routesOf(heldByKey.get(node.publicKey));
  return ownRoutes(node).filter((route) => !suspects.includes(route) || held.covers(route));
}
