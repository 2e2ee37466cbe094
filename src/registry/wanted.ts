import { kubeconfigText, type SecretData } from "../api/kubeconfig-secret.ts";
import type { DrainRow } from "../core/drain.ts";
import {
  connectionId as brand,
  type ClusterName,
  type ConnectionId,
  localConnection,
  type MeshId,
} from "../core/ids.ts";
import type { LedgerRow } from "../core/ledger.ts";
import type { Mesh, SecretRef } from "../core/mesh.ts";
import type { ConnectedMesh, EntryConnection } from "../core/world.ts";
import { type ConnectionConfig, connectionId } from "../kube/connection-config.ts";
import { type KubeconfigLicence, parseKubeconfig } from "../kube/kubeconfig.ts";

/** What we know of one Secret. */
export type SecretState =
  | { readonly state: "known"; readonly data: SecretData }
  | { readonly state: "missing" }
  | { readonly state: "unknown" };

/** A mesh as far as it asks for connections. */
export interface MeshWish {
  readonly id: MeshId;
  readonly namespace: string;
  /** Absent when its spec cannot be used, or its deletion was asked for: then only the ledger counts. */
  readonly mesh?: Mesh;
  readonly ledger: readonly LedgerRow[];
}

export interface WantedInput {
  readonly wishes: readonly MeshWish[];
  readonly secret: (namespace: string, name: string) => SecretState;
  readonly allow: ReadonlySet<KubeconfigLicence>;
}

/** The connections that the meshes ask for, and where each entry and each row of a ledger leads. */
export interface Wanted {
  readonly meshes: readonly ConnectedMesh[];
  readonly ledgers: ReadonlyMap<MeshId, readonly DrainRow[]>;
  /** Without `local`: that one is always there. */
  readonly remote: ReadonlyMap<ConnectionId, ConnectionConfig>;
}

/** A mesh reaches only what its own Secrets, in its own namespace, contain. */
export function wantedConnections(input: WantedInput): Wanted {
  const remote = new Map<ConnectionId, ConnectionConfig>();
  const lead = (namespace: string, reach: "local" | SecretRef): EntryConnection => {
    const { connection, config } = resolve(input, namespace, reach);
    if (connection.state === "connected" && config) remote.set(connection.id, config);
    return connection;
  };
  const ledgers = new Map(
    input.wishes.map(({ id, namespace, ledger }) => [
      id,
      ledger.map((row): DrainRow => ({ ...row, connection: lead(namespace, row.reach) })),
    ]),
  );
  const meshes = input.wishes.flatMap(({ id, namespace, mesh }): ConnectedMesh[] => {
    if (!mesh) return [];
    const connections = mesh.entries.map(({ name, reach }) => [name, lead(namespace, reach)] as const);
    return [
      { mesh, connections: new Map<ClusterName, EntryConnection>(connections), ledger: reached(ledgers.get(id)) },
    ];
  });
  return { meshes, ledgers, remote };
}

function reached(rows: readonly DrainRow[] = []): Set<ConnectionId> {
  return new Set(rows.flatMap(({ connection }) => (connection.state === "connected" ? [connection.id] : [])));
}

interface Resolved {
  readonly connection: EntryConnection;
  readonly config?: ConnectionConfig;
}

function resolve({ secret, allow }: WantedInput, namespace: string, reach: "local" | SecretRef): Resolved {
  if (reach === "local") return { connection: { state: "connected", id: localConnection } };
  const found = secret(namespace, reach.name);
  if (found.state === "unknown") return { connection: { state: "unknown", reason: "SecretUnknown" } };
  if (found.state === "missing") return { connection: { state: "unknown", reason: "SecretMissing" } };
  const text = kubeconfigText(found.data, reach.key);
  if (text === undefined) return { connection: { state: "unknown", reason: "SecretKeyMissing" } };
  const reading = parseKubeconfig(text, { allow });
  if (!reading.ok) {
    const detail = reading.problems.map(({ path, message }) => `${path}: ${message}`).join("; ");
    return { connection: { state: "unknown", reason: "KubeconfigInvalid", detail } };
  }
  const id = brand(connectionId(reading.connection).slice(0, 16));
  return { connection: { state: "connected", id }, config: reading.connection };
}
