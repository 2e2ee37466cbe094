import type { Cidr } from "./cidr.ts";
import type { ClusterName, MeshId } from "./ids.ts";
import { onceFor } from "./once-per.ts";
import { overlapping } from "./overlapping.ts";
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
  return mesh.entries.reduce((most, { keepaliveSeconds }) => Math.max(most, keepaliveSeconds), 0);
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

/** As many are named at once; there may be as many as the author likes. */
const mostProblems = 50;

/** The pairs of declared networks of one mesh that overlap. */
export function overlapsWithin(mesh: Mesh): MeshProblem[] {
  const all = mesh.entries.flatMap((entry) => declaredNetworks(entry).map((cidr) => ({ entry: entry.name, cidr })));
  const { pairs, total } = overlapping(all, mostProblems);
  const texts = pairs.map(([a, b]) => `${a.cidr.text} of ${a.entry} overlaps ${b.cidr.text} of ${b.entry}`);
  const more = total > pairs.length ? [`${total} pairs of networks overlap, of which ${pairs.length} are named`] : [];
  return [...more, ...texts].map((message) => ({ kind: "overlap", field: "spec.clusters", message }));
}

/** The first of them, and how many there are where that is not all. */
export function firstProblems(problems: readonly MeshProblem[]): readonly MeshProblem[] {
  if (problems.length <= mostProblems) return problems;
  const message = `has ${problems.length} problems, of which ${mostProblems} are named`;
  return [{ field: "spec", message }, ...problems.slice(0, mostProblems)];
}
