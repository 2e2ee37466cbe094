import type { Cidr } from "./cidr.ts";
import type { MeshNode } from "./node.ts";
import type { HeldPeer } from "./peer.ts";

/**
 * The node whose Peer carries the cluster-wide networks: the one that carries them already, else the first by name.
 * A network can ride on exactly one Peer, and moving it costs every node of the target a session.
 */
export function carrierOf(
  nodes: readonly MeshNode[],
  clusterWide: readonly Cidr[],
  heldByKey: ReadonlyMap<string, HeldPeer>,
): MeshNode | undefined {
  if (clusterWide.length === 0) return undefined;
  const carries = ({ publicKey }: MeshNode): boolean => {
    const held = heldByKey.get(publicKey);
    return held !== undefined && clusterWide.some(({ text }) => held.allowedIps.includes(text));
  };
  return nodes.find(carries) ?? nodes[0];
}
