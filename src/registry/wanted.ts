import { kubeconfigText, type SecretData } from "../api/kubeconfig-secret.ts";
import {
  connectionId as brand,
  type ClusterName,
  type ConnectionId,
  localConnection,
  type MeshId,
} from "../core/ids.ts";
import type { Mesh, MeshEntry } from "../core/mesh.ts";
import type { ConnectedMesh, EntryConnection } from "../core/world.ts";
import { type ConnectionConfig, connectionId } from "../kube/connection-config.ts";
import { type KubeconfigLicence, parseKubeconfig } from "../kube/kubeconfig.ts";

/** What we know of one Secret. */
export type SecretState =
  | { readonly state: "known"; readonly data: SecretData }
  | { readonly state: "missing" }
  | { readonly state: "unknown" };

export interface WantedInput {
  readonly meshes: readonly Mesh[];
  readonly secret: (namespace: string, name: string) => SecretState;
  readonly allow: ReadonlySet<KubeconfigLicence>;
}

/** The connections that the meshes ask for, and where each entry leads. */
export interface Wanted {
  readonly meshes: readonly ConnectedMesh[];
  /** Without `local`: that one is always there. */
  readonly remote: ReadonlyMap<ConnectionId, WantedConnection>;
}

export interface WantedConnection {
  readonly config: ConnectionConfig;
  /** The entries that lead there, as `entryKey` writes them. */
  readonly users: ReadonlySet<string>;
}

export const entryKey = (mesh: MeshId, entry: ClusterName): string => `${mesh}#${entry}`;

/** A mesh reaches only what its own Secrets, in its own namespace, contain. */
export function wantedConnections(input: WantedInput): Wanted {
  const remote = new Map<ConnectionId, { config: ConnectionConfig; users: Set<string> }>();
  const meshes = input.meshes.map((mesh): ConnectedMesh => {
    const connections = new Map<ClusterName, EntryConnection>();
    for (const entry of mesh.entries) {
      const { connection, config } = resolve(input, mesh, entry);
      connections.set(entry.name, connection);
      if (connection.state !== "connected" || !config) continue;
      const wanted = remote.get(connection.id) ?? { config, users: new Set() };
      remote.set(connection.id, wanted);
      wanted.users.add(entryKey(mesh.id, entry.name));
    }
    return { mesh, connections };
  });
  return { meshes, remote };
}

interface Resolved {
  readonly connection: EntryConnection;
  readonly config?: ConnectionConfig;
}

function resolve({ secret, allow }: WantedInput, { namespace }: Mesh, { reach }: MeshEntry): Resolved {
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
