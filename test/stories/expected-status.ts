import type { ClusterMeshStatus } from "../../src/api/schema.ts";
import { nodesOf, overlap, skipReasonOf } from "./expected-peers.ts";
import { type EntryFacts, type Facts, type Letter, type MeshFacts, meshIdOf, type NetworkFacts } from "./facts.ts";

/** What a mesh in which everything is in order has to say, worked out from the story's own facts. */
export interface ExpectedStatus {
  readonly observedGeneration: number;
  readonly summary: ClusterMeshStatus["summary"];
  /** In the order of the spec. */
  readonly clusters: readonly ExpectedCluster[];
  /** By cluster and Secret. */
  readonly ledger: NonNullable<ClusterMeshStatus["ledger"]>;
  /** All but Degraded, by type. */
  readonly conditions: Readonly<Record<string, Said>>;
}

export interface Said {
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: number;
}

type Row = NonNullable<ClusterMeshStatus["clusters"]>[number];
export type ExpectedCluster = Pick<
  Row,
  "name" | "state" | "nodes" | "registeredPeers" | "skippedNodes" | "skipped" | "links"
>;

export function expectedStatus(facts: Facts, mesh: MeshFacts, generation: number): ExpectedStatus {
  const clusters = mesh.entries.map((entry) => expectedCluster(facts, mesh, entry));
  const peers = total(clusters, ({ registeredPeers }) => registeredPeers);
  const overlaps = overlapsOf(facts, mesh);
  const said = (status: string, reason: string, message: string): Said => {
    return { status, reason, message, observedGeneration: generation };
  };
  return {
    observedGeneration: generation,
    summary: {
      clusters: `${clusters.length}/${clusters.length}`,
      peers,
      skipped: total(clusters, ({ skippedNodes }) => skippedNodes),
      links: `${total(clusters, ({ links }) => links?.up)}/${total(clusters, ({ links }) => links?.expected)}`,
    },
    clusters,
    ledger: ledgerOf(mesh),
    conditions: {
      Accepted: said("True", "Valid", ""),
      Ready: said("True", "Synced", `${clusters.length} clusters, ${peers} nodes peered`),
      NetworksOverlap:
        overlaps.length > 0
          ? said("True", "CIDROverlap", overlaps.join("; "))
          : said("False", "NoOverlap", "all CIDRs are disjoint"),
      WithdrawalHeld: said("False", "NothingHeld", ""),
    },
  };
}

const total = (clusters: readonly ExpectedCluster[], count: (cluster: ExpectedCluster) => number | undefined): number =>
  clusters.reduce((sum, cluster) => sum + (count(cluster) ?? 0), 0);

function expectedCluster(facts: Facts, mesh: MeshFacts, entry: EntryFacts): ExpectedCluster {
  const nodes = facts.nodes.filter(({ cluster }) => cluster === entry.cluster);
  const peered = nodesOf(facts, entry);
  const others = [...new Set(mesh.entries.map(({ cluster }) => cluster))].filter((other) => other !== entry.cluster);
  const hasMet = (other: Letter, key: string): boolean => facts.met[other]?.includes(key) ?? false;
  const up = others.flatMap((other) => peered.filter(({ key }) => hasMet(other, key))).length;
  const skipped = skippedRows(facts, entry);
  return {
    name: entry.name,
    state: "Known",
    nodes: nodes.length,
    registeredPeers: peered.length,
    skippedNodes: nodes.length - peered.length,
    links: { up, expected: peered.length * others.length },
    ...(skipped.length > 0 && { skipped }),
  };
}

/** One row per reason, both by name. No story skips more nodes than a row has examples. */
function skippedRows({ nodes }: Facts, entry: EntryFacts): NonNullable<Row["skipped"]> {
  const byReason = Map.groupBy(
    nodes.filter(({ cluster }) => cluster === entry.cluster),
    (node) => skipReasonOf(entry, node) ?? "",
  );
  byReason.delete("");
  return [...byReason]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([reason, found]) => ({ reason, count: found.length, examples: found.map(({ name }) => name).sort() }));
}

/** Every cluster of the mesh may hold Peers of it, and no other. */
export const ledgerOf = ({ entries }: MeshFacts): ExpectedStatus["ledger"] => sortedLedger(entries.map(ledgerRow));

function ledgerRow({ name, secret }: EntryFacts): ExpectedStatus["ledger"][number] {
  return { cluster: name, ...(secret !== undefined && { kubeconfigSecretRef: { name: secret, key: "kubeconfig" } }) };
}

/** Its order says nothing. */
export function sortedLedger(rows: ExpectedStatus["ledger"]): ExpectedStatus["ledger"] {
  return rows.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

/** The other meshes of the same operator. */
export const rivals = ({ meshes }: Facts, mesh: MeshFacts): MeshFacts[] =>
  meshes.filter((other) => other.home === mesh.home && meshIdOf(other) !== meshIdOf(mesh));

/** Networks that another mesh, with which this one has a cluster in common, declares for a different cluster. */
function overlapsOf(facts: Facts, mesh: MeshFacts): string[] {
  const own = new Set(mesh.entries.map(({ cluster }) => cluster));
  return rivals(facts, mesh)
    .filter(({ entries }) => entries.some(({ cluster }) => own.has(cluster)))
    .flatMap((other) =>
      mesh.entries.flatMap((mine) => other.entries.flatMap((theirs) => clashes(mine, theirs, other))),
    );
}

function clashes(mine: EntryFacts, theirs: EntryFacts, other: MeshFacts): string[] {
  if (mine.cluster === theirs.cluster) return [];
  return declared(mine.networks).flatMap((a) =>
    declared(theirs.networks)
      .filter((b) => overlap(a, b))
      .map((b) => `${a} of ${mine.name} overlaps ${b} of ${theirs.name} of ${meshIdOf(other)}`),
  );
}

function declared(networks: NetworkFacts): readonly string[] {
  if ("allowedNetworks" in networks) return networks.allowedNetworks;
  const { podCIDRs, wireguardCIDR, serviceCIDR } = networks;
  return [...podCIDRs, wireguardCIDR, ...(serviceCIDR === undefined ? [] : [serviceCIDR])];
}
