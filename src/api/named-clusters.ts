import { type ClusterName, clusterName } from "../core/ids.ts";
import { type LedgerRow, rowText } from "../core/ledger.ts";
import { fieldsOf, itemsOf, textOf } from "./received.ts";
import { clusterMeshSpec } from "./schema.ts";
import { readSecretRef } from "./stored-status.ts";

/** What a spec says of clusters, entry by entry, also where the rest of it cannot be used. */
export interface NamedClusters {
  /** The names that Peers of its nodes carry. */
  readonly sources: readonly ClusterName[];
  /** Where they can be reached, for as many as say so, as a ledger would name them. */
  readonly rows: readonly LedgerRow[];
}

const entryName = clusterMeshSpec.shape.clusters.element.shape.name;
/** No real mesh has so many, and each of them is looked for. */
const mostEntries = 10_000;

/** What somebody may not use he cannot name either: the local cluster is left out where the mesh may not have it. */
export function namedClusters(spec: unknown, mayBeLocal: boolean): NamedClusters {
  const entries = itemsOf(fieldsOf(spec).clusters)
    .slice(0, mostEntries)
    .map(fieldsOf)
    .filter(({ name }) => entryName.safeParse(name).success)
    .map((entry) => ({ cluster: clusterName(textOf(entry.name)), reach: reachOf(entry, mayBeLocal) }));
  const rows = entries.flatMap(({ cluster, reach }): LedgerRow[] => (reach ? [{ cluster, reach }] : []));
  return {
    sources: [...new Set(entries.map(({ cluster }) => cluster))],
    rows: [...new Map(rows.map((row) => [rowText(row), row])).values()],
  };
}

function reachOf(entry: Readonly<Record<string, unknown>>, mayBeLocal: boolean): LedgerRow["reach"] | undefined {
  if (entry.local === true) return mayBeLocal ? "local" : undefined;
  return readSecretRef(fieldsOf(entry.kubeconfigSecretRef));
}
