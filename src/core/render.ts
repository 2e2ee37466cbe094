import { type CarrierContext, carrierOf, clusterWideOf } from "./carrier.ts";
import { type Cidr, uniqueRoutes } from "./cidr.ts";
import { type ConnectionId, peerName } from "./ids.ts";
import type { JudgedSource } from "./judge.ts";
import { declaredNetworks, type MeshEntry, meshKeepaliveSeconds, rankOf } from "./mesh.ts";
import { type MeshNode, ownRoutes } from "./node.ts";
import { onceFor, onceForBoth } from "./once-per.ts";
import { type Peer, routesOf } from "./peer.ts";
import { type Promised, trespasses } from "./promised.ts";
import { type Ranges, rangesOf } from "./ranges.ts";
import type { ConnectedMesh } from "./world.ts";

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
  readonly promised: Promised;
  readonly digest: (text: string) => string;
}

const nothing: readonly Cidr[] = [];

/** What one source wants in a target. */
export function renderSource(source: JudgedSource, context: RenderContext): Candidate[] {
  const carrier = carrierOf(source, context);
  return source.admitted.map((node) => {
    const candidate = renderNode(source, node, context);
    if (node !== carrier) return candidate;
    return { ...candidate, routes: uniqueRoutes([...candidate.routes, ...clusterWideOf(source)]) };
  });
}

function renderNode(source: JudgedSource, node: MeshNode, context: RenderContext): Candidate {
  const wish = wishOf(source, node, context);
  const withheld = withheldFrom(source, node, context);
  const routes = without(ownOf(source, node, context), withheld);
  return routes === wish.routes ? wish : { ...wish, routes, withheld };
}

const wishesOf = onceFor((_: ConnectedMesh) => new WeakMap<MeshNode, Candidate>());

/** What a mesh wants for a node wherever nobody objects: the same for all targets, and for all plans while it is so. */
function wishOf(source: JudgedSource, node: MeshNode, { digest }: RenderContext): Candidate {
  const wishes = wishesOf(source.connected);
  const known = wishes.get(node);
  if (known) return known;
  const { mesh } = source.connected;
  const wish = {
    cluster: source.connection ?? ("" as ConnectionId),
    rank: rankOf(mesh),
    name: peerName({ mesh: mesh.name, source: source.source, node: node.name }, digest),
    publicKey: node.publicKey,
    endpoint: node.endpoint,
    roams: node.roams,
    pinned: node.pinned,
    touchPending: false,
    declared: "",
    move: "",
    mayLackEndpoint: false,
    inPieces: false,
    routes: ownRoutes(node),
    withheld: nothing,
    keepaliveSeconds: meshKeepaliveSeconds(mesh),
    mesh: mesh.name,
    source: source.source,
    node: node.name,
    owners: [mesh.id],
  };
  wishes.set(node, wish);
  return wish;
}

/**
 * A tunnel that carries us to the API server which we need to repair it would be one that nobody can repair: such a route
 * has to be declared, or to be there already.
 */
function withheldFrom({ entry }: JudgedSource, node: MeshNode, { servers, heldByKey }: RenderContext): readonly Cidr[] {
  if (!ownRoutes(node).some(servers.touches)) return nothing;
  const suspects = ownRoutes(node).filter(servers.touches);
  const declared = declaredRanges(entry);
  const held = routesOf(heldByKey.get(node.publicKey));
  return suspects.filter((route) => !declared.covers(route) && !held.covers(route));
}

/** The node's routes but those that are another cluster's. */
function ownOf({ entry, connection }: JudgedSource, node: MeshNode, context: RenderContext): readonly Cidr[] {
  const { promised, heldByKey } = context;
  const strays = straysOf(entry, node);
  if (strays.length === 0 || !connection) return ownRoutes(node);
  const foreign = strays.filter((route) => trespasses(promised, connection, route));
  const held = routesOf(heldByKey.get(node.publicKey));
  const lost = foreign.filter((route) => !held.covers(route));
  return without(ownRoutes(node), lost);
}

/** Those of a node's routes that its entry does not declare: in the typed form there are none. */
function straysOf(entry: MeshEntry, node: MeshNode): readonly Cidr[] {
  return entry.networks.form === "typed" ? nothing : undeclaredRoutes(entry, node);
}

const undeclaredRoutes = onceForBoth((entry: MeshEntry, node: MeshNode) =>
  ownRoutes(node).filter((route) => !declaredRanges(entry).covers(route)),
);
const declaredRanges = onceFor((entry: MeshEntry) => rangesOf(declaredNetworks(entry)));

function without(routes: readonly Cidr[], others: readonly Cidr[]): readonly Cidr[] {
  return others.length === 0 ? routes : routes.filter((route) => !others.includes(route));
}
