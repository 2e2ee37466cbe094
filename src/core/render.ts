import { type CarrierInput, carrierOf, clusterWideOf } from "./carrier.ts";
import { type Cidr, uniqueRoutes } from "./cidr.ts";
import { type ConnectionId, type MeshId, peerName } from "./ids.ts";
import type { JudgedSource } from "./judge.ts";
import { declaredRanges, type MeshEntry, meshKeepaliveSeconds, rankOf } from "./mesh.ts";
import { type MeshNode, ownRoutes } from "./node.ts";
import type { Note } from "./notes.ts";
import { onceFor, onceForBoth, oneCopy } from "./once-per.ts";
import { type HeldPeer, type Peer, routesOf } from "./peer.ts";
import type { Promised } from "./promised.ts";
import { type Each, rememberedEach } from "./remembered.ts";
import type { Servers } from "./servers.ts";
import { sourceNotes } from "./source-notes.ts";
import type { ConnectedMesh } from "./world.ts";

/** A wanted Peer before its routes are settled against those of others. */
export interface Candidate extends Peer {
  readonly roams: boolean;
  readonly pinned: boolean;
  readonly cluster: ConnectionId;
  /** Older meshes first, then by name. */
  readonly rank: string;
  /** Of each route where several meshes want the node: those of the meshes that want it, the smallest first. */
  readonly ranks?: ReadonlyMap<string, readonly string[]>;
  /** Routes that would lead to an API server that we use, and that nobody declared. */
  readonly withheld: readonly Cidr[];
}

export interface RenderInput extends CarrierInput, Pick<JudgedSource, "mesh" | "source" | "connected" | "unclear"> {
  readonly connection: ConnectionId | undefined;
  readonly servers: Servers;
  readonly promised: Promised;
  /** What routes may lie in. Empty: anywhere. */
  readonly allowedCidrs: readonly Cidr[];
  readonly digest: (text: string) => string;
}

/** What one source wants in a target. */
export interface Rendered {
  readonly candidates: readonly Candidate[];
  /** The names that its endpoints use. */
  readonly names: readonly string[];
  /** What works, but not as declared. */
  readonly notes: readonly Note[];
}

const nothing: readonly Cidr[] = [];

export function renderSource(input: RenderInput, renderEach: RenderEach = rememberedEach(renderNode)): Rendered {
  const { admitted, helds, connected, connection, source, entry, servers, promised, digest } = input;
  const around = { connected, connection, source, entry, servers, promised, digest };
  const carrier = carrierOf(input);
  const candidates = renderEach(admitted, { others: helds, around }).map((candidate, index) =>
    admitted[index] === carrier ? carrying(candidate, clusterWideOf(input)) : candidate,
  );
  return { candidates, names: namesIn(candidates), notes: sourceNotes(input, candidates) };
}

/** The same for all targets in which nobody objects. */
const carrying = onceForBoth(
  (candidate: Candidate, networks: readonly Cidr[]): Candidate => ({
    ...candidate,
    routes: uniqueRoutes([...candidate.routes, ...networks]),
  }),
);

type NodeSurroundings = Pick<
  RenderInput,
  "connected" | "connection" | "source" | "entry" | "servers" | "promised" | "digest"
>;
export type RenderEach = Each<MeshNode, Candidate, HeldPeer | undefined, NodeSurroundings>;

const namesIn = (candidates: readonly Candidate[]): string[] =>
  candidates.map(({ endpoint: { host } }) => ("dns" in host ? host.dns : "")).filter((name) => name !== "");

export function renderNode(node: MeshNode, held: HeldPeer | undefined, around: NodeSurroundings): Candidate {
  const wish = wishOf(around, node);
  const withheld = withheldFrom(around, node, held);
  const routes = without(ownOf(around, node, held), withheld);
  return routes === wish.routes ? wish : { ...wish, routes, withheld };
}

const ownersOf = onceFor(({ mesh }: ConnectedMesh): readonly MeshId[] => [mesh.id]);
const wishesOf = onceFor((_: ConnectedMesh) => new WeakMap<MeshNode, Candidate>());

/** What a mesh wants for a node wherever nobody objects: the same for all targets, and for all plans while it is so. */
function wishOf({ connected, connection, source, digest }: NodeSurroundings, node: MeshNode): Candidate {
  const wishes = wishesOf(connected);
  const known = wishes.get(node);
  if (known) return known;
  const { mesh } = connected;
  const wish = {
    cluster: connection ?? ("" as ConnectionId),
    rank: rankOf(mesh),
    name: oneCopy(peerName({ mesh: mesh.name, source, node: node.name }, digest)),
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
    source,
    node: node.name,
    owners: ownersOf(connected),
  };
  wishes.set(node, wish);
  return wish;
}

/**
 * A tunnel that carries us to the API server which we need to repair it would be one that nobody can repair: such a route
 * has to be declared, or to be there already.
 */
function withheldFrom(
  { entry, servers: { addresses } }: NodeSurroundings,
  node: MeshNode,
  held: HeldPeer | undefined,
): readonly Cidr[] {
  if (!ownRoutes(node).some(addresses.touches)) return nothing;
  const suspects = ownRoutes(node).filter(addresses.touches);
  const declared = declaredRanges(entry);
  const there = routesOf(held);
  return suspects.filter((route) => !declared.covers(route) && !there.covers(route));
}

/** The node's routes but those that are another cluster's. */
function ownOf(
  { entry, connected, connection, promised }: NodeSurroundings,
  node: MeshNode,
  held: HeldPeer | undefined,
): readonly Cidr[] {
  const strays = straysOf(entry, node);
  if (strays.length === 0 || !connection) return ownRoutes(node);
  const asker = { cluster: connection, rank: rankOf(connected.mesh) };
  const foreign = strays.filter(promised.beforeUndeclared(asker).touches);
  const there = routesOf(held);
  const lost = foreign.filter((route) => !there.covers(route));
  return without(ownRoutes(node), lost);
}

/** Those of a node's routes that its entry does not declare: in the typed form there are none. */
function straysOf(entry: MeshEntry, node: MeshNode): readonly Cidr[] {
  return entry.networks.form === "typed" ? nothing : undeclaredRoutes(entry, node);
}

const undeclaredRoutes = onceForBoth((entry: MeshEntry, node: MeshNode) =>
  ownRoutes(node).filter((route) => !declaredRanges(entry).covers(route)),
);

function without(routes: readonly Cidr[], others: readonly Cidr[]): readonly Cidr[] {
  return others.length === 0 ? routes : routes.filter((route) => !others.includes(route));
}
