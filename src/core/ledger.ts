import type { ClusterName } from "./ids.ts";
import type { Mesh, SecretRef } from "./mesh.ts";

/** A cluster that may hold Peers of a mesh, and how it was reached. Never a credential. */
export interface LedgerRow {
  readonly cluster: ClusterName;
  readonly reach: "local" | SecretRef;
}

/** The rows that must be written before a mesh may put a Peer anywhere: what was there, and every cluster it names. */
export function ledgerWith(named: readonly LedgerRow[], before: readonly LedgerRow[]): readonly LedgerRow[] {
  const known = new Set(before.map(rowText));
  const missing = named.filter((row) => !known.has(rowText(row)));
  return missing.length > 0 ? [...before, ...missing] : before;
}

export function isInSpec(mesh: Mesh | undefined, row: LedgerRow): boolean {
  return mesh?.entries.some(({ name, reach }) => rowText({ cluster: name, reach }) === rowText(row)) ?? false;
}

/** One text for it. */
export const rowText = ({ cluster, reach }: LedgerRow): string =>
  reach === "local" ? `${cluster} local` : `${cluster} ${reach.name}/${reach.key}`;
