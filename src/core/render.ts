import { carrierOf, clusterWideOf } from "./carrier.ts";
import { containsIp, parseIp } from "./cidr.ts";
import { type Endpoint, hostText } from "./endpoint.ts";
import { type ConnectionId, peerName } from "./ids.ts";
import type { JudgedSource } from "./judge.ts";
import type { KeptPeer } from "./kept.ts";
import { meshKeepaliveSeconds } from "./mesh.ts";
import type { MeshNode } from "./node.ts";
import { type HeldPeer, type Peer, uniqueRoutes } from "./peer.ts";

/** A wanted Peer before its routes are settled against those of others. */
export interface Candidate extends Peer {
  readonly roams: boolean;
  readonly cluster: ConnectionId;
  /** Older meshes first, then by name. */
  readonly rank: string;
}

export interface RenderContext {
  readonly heldByKey: ReadonlyMap<string, HeldPeer>;
  readonly kept: readonly KeptPeer[];
  readonly digest: (text: string) => string;
}

/** A node that has to come to us first needs a Peer that follows it, which Kilo does only with a keepalive. */
const roamingKeepaliveSeconds = 25;

/** What one source wants in a target. */
export function renderSource(source: JudgedSource, context: RenderContext): Candidate[] {
  const carrier = carrierOf(source, context.heldByKey, context.kept);
  return source.admitted.map((node) => renderNode(source, node, { carries: node === carrier, ...context }));
}

type NodeContext = RenderContext & { readonly carries: boolean };

function renderNode(source: JudgedSource, node: MeshNode, { carries, digest }: NodeContext): Candidate {
  const { mesh } = source.connected;
  const clusterWide = carries ? clusterWideOf(source) : [];
  const keepalive = meshKeepaliveSeconds(mesh);
  return {
    name: peerName({ mesh: mesh.name, source: source.source, node: node.name }, digest),
    publicKey: node.publicKey,
    endpoint: node.endpoint,
    roams: node.roams,
    routes: uniqueRoutes([...node.pods, node.wireguard, ...node.hosts, ...clusterWide]),
    keepaliveSeconds: node.roams ? Math.max(keepalive, roamingKeepaliveSeconds) : keepalive,
    mesh: mesh.name,
    source: source.source,
    node: node.name,
    owners: [mesh.id],
    cluster: source.connection ?? ("" as ConnectionId),
    rank: `${mesh.createdAt} ${mesh.id}`,
  };
}

/** An address that nobody has: a Peer without any endpoint would hide changes of other Peers from Kilo. */
const nowhere = "192.0.2.1";

/** A roaming node's stand-in endpoint, which must not lie in anything that is routed into the tunnel. */
export function placeholders(candidates: readonly Candidate[]): Candidate[] {
  const routes = candidates.flatMap(({ routes: own }) => own);
  return candidates.map((candidate) => {
    const address = parseIp(hostText(candidate.endpoint));
    const isRouted = address !== undefined && routes.some((route) => containsIp(route, address));
    if (!candidate.roams || !isRouted) return candidate;
    const endpoint: Endpoint = { host: { ip: nowhere }, port: candidate.endpoint.port };
    return { ...candidate, endpoint };
  });
}
