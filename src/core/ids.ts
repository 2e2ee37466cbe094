type Brand<Name extends string> = string & { readonly __brand: Name };

/** The name of an entry in a mesh. Two meshes may use one name for two different clusters. */
export type ClusterName = Brand<"ClusterName">;
/** `namespace/name` of a ClusterMesh. */
export type MeshId = Brand<"MeshId">;
export type NodeName = Brand<"NodeName">;
export type PeerName = Brand<"PeerName">;
/** Base64 of exactly 32 bytes. */
export type PublicKey = Brand<"PublicKey">;
/** What a kubeconfig leads to; `local` for the cluster the operator runs in. Source and target are its roles. */
export type ConnectionId = Brand<"ConnectionId">;

export const localConnection = "local" as ConnectionId;

export const clusterName = (text: string): ClusterName => text as ClusterName;
export const nodeName = (text: string): NodeName => text as NodeName;
export const connectionId = (text: string): ConnectionId => text as ConnectionId;
export const meshId = (namespace: string, name: string): MeshId => `${namespace}/${name}` as MeshId;

/** 43 digits of base64 and one `=`; the last digit carries two bits that must be zero, or Kilo refuses the Peer. */
const base64Of32Bytes = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;

/** Undefined when Kilo would ignore a Peer with this key. */
export function publicKey(text: string): PublicKey | undefined {
  return base64Of32Bytes.test(text) ? (text as PublicKey) : undefined;
}

/** What the name of a Peer is made from. */
export interface PeerNameParts {
  readonly mesh: string;
  readonly source: ClusterName;
  readonly node: NodeName;
}

const longestName = 253;

/**
 * The Go operator's name for a node's Peer, character for character: taking over its Peers rests on it.
 * `digest` is the SHA-256 of a text in hex; it counts only where the name is too long.
 */
export function peerName({ mesh, source, node }: PeerNameParts, digest: (text: string) => string): PeerName {
  const raw = `${mesh}--${source}--${node}`;
  const clean = raw
    .toLowerCase()
    .replace(/[^a-z0-9.-]/g, "-")
    .replace(/^[-.]+|[-.]+$/g, "");
  if (clean.length <= longestName) return clean as PeerName;
  const head = clean.slice(0, longestName - 17).replace(/[-.]+$/, "");
  return `${head}-${digest(raw).slice(0, 16)}` as PeerName;
}
