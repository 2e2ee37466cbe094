import { type Cidr, overlaps } from "./cidr.ts";
import type { ClusterName, MeshId } from "./ids.ts";
import { onceFor } from "./once-per.ts";
import { rangesOf } from "./ranges.ts";

export interface SecretRef {
  readonly name: string;
  readonly key: string;
}

/** The networks of a cluster in one of the two forms that v1alpha1 has. */
export type Networks =
  | {
      readonly form: "typed";
      readonly pods: readonly Cidr[];
      readonly wireguard: Cidr;
      /** Networks no single node owns: the service CIDR and the additional ones. */
      readonly clusterWide: readonly Cidr[];
    }
  | { readonly form: "flat"; readonly allowed: readonly Cidr[] };

/** One cluster of a mesh, as its author declared it. */
export interface MeshEntry {
  readonly name: ClusterName;
  readonly reach: "local" | SecretRef;
  readonly networks: Networks;
  /** Fields of the other form that were given too and do not count. */
  readonly ignoredFields?: readonly string[];
  readonly wireguardPort: number;
  readonly keepaliveSeconds: number;
  /** Whether what other clusters observe may replace what the node says of itself. */
  readonly endpointDiscovery: "Auto" | "Never";
}

export interface Mesh {
  readonly id: MeshId;
  readonly namespace: string;
  readonly name: string;
  readonly generation: number;
  /** RFC 3339: of two meshes that claim one network, the older has it. */
  readonly createdAt: string;
  /** How long its deletion waits for a cluster that does not answer. */
  readonly deletionTimeoutSeconds: number;
  readonly entries: readonly MeshEntry[];
}

/** One declared mistake, with the path of the field. */
export interface MeshProblem {
  readonly field: string;
  readonly message: string;
  readonly kind?: "overlap";
}

/** The Peer keepalive of every entry is the mesh's largest: one roaming side is enough to need it. */
export function meshKeepaliveSeconds(mesh: Mesh): number {
  return Math.max(0, ...mesh.entries.map((entry) => entry.keepaliveSeconds));
}

/** Of two meshes that want the same, the one with the smaller rank has it: older first, then by name. */
export const rankOf = onceFor(({ createdAt, id }: Mesh) => `${createdAt} ${id}`);

/** Where a node's pod CIDR has to lie. */
export function podNetworks({ networks }: MeshEntry): readonly Cidr[] {
  return networks.form === "typed" ? networks.pods : networks.allowed;
}

/** Where a node's WireGuard IP has to lie. */
export function wireguardNetworks({ networks }: MeshEntry): readonly Cidr[] {
  return networks.form === "typed" ? [networks.wireguard] : networks.allowed;
}

export function declaredNetworks({ networks }: MeshEntry): readonly Cidr[] {
  if (networks.form === "flat") return networks.allowed;
  return [...networks.pods, networks.wireguard, ...networks.clusterWide];
}

export const declaredRanges = onceFor((entry: MeshEntry) => rangesOf(declaredNetworks(entry)));

/** Every pair of declared networks of one mesh that overlap, each named once. */
export function overlapsWithin(mesh: Mesh): MeshProblem[] {
  const all = mesh.entries.flatMap((entry) => declaredNetworks(entry).map((cidr) => ({ entry: entry.name, cidr })));
  return all.flatMap((a, index) =>
    all
      .slice(index + 1)
      .filter((b) => overlaps(a.cidr, b.cidr))
      .map((b) => ({
        kind: "overlap",
        field: "spec.clusters",
        message: `${a.cidr.text} of ${a.entry} overlaps ${b.cidr.text} of ${b.entry}`,
      })),
  );
}
