import { type Cidr, overlaps } from "./cidr.ts";
import type { ClusterName, MeshId } from "./ids.ts";

export interface SecretRef {
  readonly name: string;
  readonly key: string;
}

/** One cluster of a mesh, as its author declared it. */
export interface MeshEntry {
  readonly name: ClusterName;
  readonly reach: "local" | SecretRef;
  readonly podCidrs: readonly Cidr[];
  readonly wireguardCidr: Cidr;
  /** Networks no single node owns: the service CIDR and the additional ones. */
  readonly clusterWide: readonly Cidr[];
  readonly wireguardPort: number;
  readonly keepaliveSeconds: number;
}

export interface Mesh {
  readonly id: MeshId;
  readonly namespace: string;
  readonly name: string;
  readonly generation: number;
  readonly entries: readonly MeshEntry[];
}

/** One declared mistake, with the path of the field. */
export interface MeshProblem {
  readonly field: string;
  readonly message: string;
}

/** The Peer keepalive of every entry is the mesh's largest: one roaming side is enough to need it. */
export function meshKeepaliveSeconds(mesh: Mesh): number {
  return Math.max(0, ...mesh.entries.map((entry) => entry.keepaliveSeconds));
}

export function declaredCidrs(entry: MeshEntry): readonly Cidr[] {
  return [...entry.podCidrs, entry.wireguardCidr, ...entry.clusterWide];
}

/** Every pair of declared networks of one mesh that overlap, each named once. */
export function overlapsWithin(mesh: Mesh): MeshProblem[] {
  const all = mesh.entries.flatMap((entry) => declaredCidrs(entry).map((cidr) => ({ entry: entry.name, cidr })));
  return all.flatMap((a, index) =>
    all
      .slice(index + 1)
      .filter((b) => overlaps(a.cidr, b.cidr))
      .map((b) => ({
        field: "spec.clusters",
        message: `${a.cidr.text} of ${a.entry} overlaps ${b.cidr.text} of ${b.entry}`,
      })),
  );
}
