import { createHash } from "node:crypto";
import type { NodeObject } from "../../src/api/kilo-node.ts";

/** The clusters of a story. The operator runs in `a` unless the story says otherwise. */
export const letters = ["a", "b", "c"] as const;
export type Letter = (typeof letters)[number];

/** What a story has put into a Node. */
export interface NodeFacts {
  readonly cluster: Letter;
  readonly name: string;
  readonly podCIDR: string;
  readonly wireguardIp: string;
  readonly key: string;
  /** `host:port` at which others reach it; empty for a node that has to come to them. */
  readonly endpoint: string;
  /** `host:port` under which Kilo knows it. */
  readonly kiloEndpoint: string;
  readonly internalIp: string;
  /** Where its provider says that it can be reached; then no annotation says it. */
  readonly externalIp?: string;
  /** Kilo has left it: the node is there and is peered no more. */
  readonly bare?: true;
  /** It gives no sign any more. */
  readonly silent?: boolean;
}

export interface TypedNetworks {
  readonly podCIDRs: readonly string[];
  readonly wireguardCIDR: string;
  readonly serviceCIDR?: string;
}

/** The networks of an entry in one of the two forms. */
export type NetworkFacts = TypedNetworks | { readonly allowedNetworks: readonly string[] };

export interface EntryFacts {
  readonly name: string;
  readonly cluster: Letter;
  /** The name of the Secret that leads there; absent for the local cluster. */
  readonly secret?: string;
  readonly networks: NetworkFacts;
  readonly persistentKeepalive?: number;
}

export interface MeshFacts {
  /** The cluster in which the mesh, its Secrets and its operator are. */
  readonly home: Letter;
  readonly namespace: string;
  readonly name: string;
  readonly entries: readonly EntryFacts[];
  readonly deletionTimeout?: string;
}

/** Everything that decides which Peers are right. */
export interface Facts {
  readonly meshes: readonly MeshFacts[];
  readonly nodes: readonly NodeFacts[];
  /** The nodes that carry their cluster's service network. The first by name where nothing is said. */
  readonly carriers: Readonly<Partial<Record<Letter, string>>>;
  /** Names of Peers by public key, or by cluster and key (`a KEY`), where they differ from the name of node and mesh. */
  readonly names: Readonly<Record<string, string>>;
  /** Peers that other people have written, by name. */
  readonly foreign: Readonly<Partial<Record<Letter, readonly string[]>>>;
  /** The public keys with which nodes of a cluster say that they have shaken hands. */
  readonly met: Readonly<Partial<Record<Letter, readonly string[]>>>;
}

export const noFacts: Facts = { meshes: [], nodes: [], carriers: {}, names: {}, foreign: {}, met: {} };

const numberOf = (letter: Letter): number => letters.indexOf(letter) + 1;
export const clusterNameOf = (letter: Letter): string => `cluster-${letter}`;
export const nodeNameOf = (letter: Letter, index: number): string => `cluster-${letter}-${index}`;
export const meshIdOf = ({ namespace, name }: Pick<MeshFacts, "namespace" | "name">): string => `${namespace}/${name}`;

/** A valid WireGuard key that differs by seed. */
export const aKey = (seed: string): string => createHash("sha256").update(seed).digest("base64");

/** The networks of a cluster, disjoint from those of the others. */
export function networksOf(letter: Letter): Required<TypedNetworks> {
  const number = numberOf(letter);
  return {
    podCIDRs: [`10.${number}.0.0/16`],
    wireguardCIDR: `10.200.${number}.0/24`,
    serviceCIDR: `10.${100 + number}.0.0/16`,
  };
}

/** Node number `index` (from 1) of a cluster. */
export function aNode(cluster: Letter, index: number, overrides: Partial<NodeFacts> = {}): NodeFacts {
  const number = numberOf(cluster);
  const name = overrides.name ?? nodeNameOf(cluster, index);
  return {
    cluster,
    name,
    podCIDR: `10.${number}.${index}.0/24`,
    wireguardIp: `10.200.${number}.${index}`,
    key: aKey(`${cluster} ${name}`),
    endpoint: `198.18.${number}.${index}:51820`,
    kiloEndpoint: `198.18.${number}.${index}:51820`,
    internalIp: `172.20.${number}.${index}`,
    ...overrides,
  };
}

export function nodeObject(node: NodeFacts): NodeObject {
  const { name, podCIDR } = node;
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels: { "kubernetes.io/hostname": name }, annotations: annotationsOf(node) },
    spec: { podCIDR, podCIDRs: [podCIDR] },
    status: { addresses: addressesOf(node) },
  };
}

export function addressesOf({ internalIp, externalIp }: NodeFacts): { type: string; address: string }[] {
  const external = externalIp === undefined ? [] : [{ type: "ExternalIP", address: externalIp }];
  return [{ type: "InternalIP", address: internalIp }, ...external];
}

/** What Kilo and its user write on the node. */
export function annotationsOf(node: NodeFacts): Record<string, string> {
  return {
    "kilo.squat.ai/wireguard-ip": `${node.wireguardIp}/24`,
    "kilo.squat.ai/key": node.key,
    "kilo.squat.ai/endpoint": node.kiloEndpoint,
    "kilo.squat.ai/granularity": "full",
    "kilo.squat.ai/internal-ip": `${node.internalIp}/24`,
    ...(node.endpoint && node.externalIp === undefined && { "kilo.squat.ai/force-endpoint": node.endpoint }),
  };
}

/** The entry of a cluster: local in `home`, elsewhere by the Secret `cluster-X-kubeconfig`. */
export function anEntry(cluster: Letter, overrides: Partial<EntryFacts> & { readonly home?: Letter } = {}): EntryFacts {
  const { home = "a", ...facts } = overrides;
  const name = clusterNameOf(cluster);
  const reach = cluster === home ? {} : { secret: `${name}-kubeconfig` };
  return { name, cluster, networks: networksOf(cluster), ...reach, ...facts };
}

/** The same networks in the flat form. */
export function aFlatEntry(cluster: Letter): EntryFacts {
  const { podCIDRs, wireguardCIDR, serviceCIDR } = networksOf(cluster);
  return anEntry(cluster, { networks: { allowedNetworks: [...podCIDRs, wireguardCIDR, serviceCIDR] } });
}

export const homeNamespace = "kilo-system";
/** A second namespace that every cluster of a story has. */
export const otherNamespace = "tenant";

/** `kilo-system/my-mesh` over these clusters. */
export function aMesh(clusters: readonly Letter[], overrides: Partial<MeshFacts> = {}): MeshFacts {
  const { home = "a" } = overrides;
  const entries = clusters.map((cluster) => anEntry(cluster, { home }));
  return { home, namespace: homeNamespace, name: "my-mesh", entries, ...overrides };
}

/** The `spec` of the mesh as its author writes it. */
export function meshSpec({ entries, deletionTimeout }: MeshFacts): { clusters: unknown[] } {
  const clusters = entries.map(({ name, secret, networks, persistentKeepalive }) => ({
    name,
    ...(secret === undefined ? { local: true } : { kubeconfigSecretRef: { name: secret, key: "kubeconfig" } }),
    ...networks,
    ...(persistentKeepalive !== undefined && { persistentKeepalive }),
  }));
  return { clusters, ...(deletionTimeout !== undefined && { deletionTimeout }) };
}
