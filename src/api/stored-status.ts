import { type ClusterName, clusterName } from "../core/ids.ts";
import type { LedgerRow } from "../core/ledger.ts";
import type { NoteReason } from "../core/reasons.ts";
import { fieldsOf, itemsOf, textOf } from "./received.ts";
import { type ClusterMeshStatus, clusterMeshStatus } from "./schema.ts";

const shape: Readonly<Record<string, { safeParse: (value: unknown) => { readonly success: boolean } }>> =
  clusterMeshStatus.shape;

/** A status as it was stored, without the fields that another definition of the type let be of another shape. */
export function readStatus(stored: unknown): ClusterMeshStatus | undefined {
  if (typeof stored !== "object" || stored === null) return undefined;
  const fields = Object.entries(stored);
  const sound = fields.filter(([name, value]) => !Object.hasOwn(shape, name) || shape[name]?.safeParse(value).success);
  return sound.length === fields.length ? (stored as ClusterMeshStatus) : Object.fromEntries(sound);
}

/** The clusters of which it says that their Secret leads to another one than before. */
export function replacedIn({ clusters = [] }: ClusterMeshStatus): Set<ClusterName> {
  const replaced = clusters.filter(({ notes = [] }) => notes.some(({ reason }) => reason === replacedReason));
  return new Set(replaced.map(({ name }) => clusterName(name)));
}

const replacedReason: NoteReason = "ClusterReplaced";

/** Row by row: one that says nothing must not take the others along, which name clusters that may hold Peers. */
export function readLedger(stored: unknown): LedgerRow[] {
  return itemsOf(fieldsOf(stored).ledger).flatMap((row) => {
    const { cluster, kubeconfigSecretRef } = fieldsOf(row);
    const reach = kubeconfigSecretRef === undefined ? "local" : readSecretRef(fieldsOf(kubeconfigSecretRef));
    return textOf(cluster) && reach ? [{ cluster: clusterName(textOf(cluster)), reach }] : [];
  });
}

export function readSecretRef({ name, key }: Readonly<Record<string, unknown>>): LedgerRow["reach"] | undefined {
  return textOf(name) ? { name: textOf(name), key: textOf(key) || "kubeconfig" } : undefined;
}

export function renderLedger(rows: readonly LedgerRow[]): NonNullable<ClusterMeshStatus["ledger"]> {
  return rows.map(({ cluster, reach }) => (reach === "local" ? { cluster } : { cluster, kubeconfigSecretRef: reach }));
}
