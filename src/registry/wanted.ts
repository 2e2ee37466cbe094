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
import { onceForBoth, oncePer } from "../core/once-per.ts";
import type { ConnectedMesh, EntryConnection } from "../core/world.ts";
import { type ConnectionConfig, connectionId } from "../kube/connection-config.ts";
import { type KubeconfigLicence, parseKubeconfig } from "../kube/kubeconfig.ts";
import type { Lead, Rotations } from "./rotations.ts";

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
  readonly rotations: Pick<Rotations, "lead" | "before" | "last" | "hasLedElsewhere">;
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
  const { rotations } = input;
  const remote = new Map<ConnectionId, ConnectionConfig>();
  const lead = (namespace: string, reach: "local" | SecretRef): EntryConnection => {
    const resolved = resolve(input, namespace, reach);
    if (!("config" in resolved)) return resolved;
    const speaks = rotations.lead(secretKey(namespace, reach), resolved);
    for (const { id, config } of [speaks, resolved]) remote.set(id, config);
    return { state: "connected", id: speaks.id };
  };
  const ledgers = new Map(
    input.wishes.map(({ id, namespace, ledger }) => [
      id,
      ledger.map((row): DrainRow => {
        const connection = lead(namespace, row.reach);
        return { ...row, connection, ...pastOf(secretKey(namespace, row.reach), connection, rotations) };
      }),
    ]),
  );
  const meshes = input.wishes.flatMap(({ id, namespace, mesh }): ConnectedMesh[] => {
    if (!mesh) return [];
    const connections = mesh.entries.map(({ name, reach }) => [name, lead(namespace, reach)] as const);
    const before = mesh.entries.flatMap(({ name, reach }) => {
      const old = rotations.before(secretKey(namespace, reach));
      return old ? [[name, old] as const] : [];
    });
    return [
      {
        mesh,
        connections: new Map<ClusterName, EntryConnection>(connections),
        before: new Map(before),
        ledger: reached(ledgers.get(id)),
      },
    ];
  });
  return { meshes, ledgers, remote };
}

/** Names a key of a Secret; `local` needs none. */
export function secretKey(namespace: string, reach: "local" | SecretRef): string {
  return reach === "local" ? "local" : `${namespace}/${reach.name}/${reach.key}`;
}

/** Where a Secret has led. */
function pastOf(
  secret: string,
  connection: EntryConnection,
  rotations: WantedInput["rotations"],
): Pick<DrainRow, "last" | "before"> {
  const last = connection.state === "unknown" ? rotations.last(secret) : undefined;
  const before = rotations.hasLedElsewhere(secret) ? (rotations.before(secret) ?? "closed") : undefined;
  return { ...(last && { last }), ...(before && { before }) };
}

function reached(rows: readonly DrainRow[] = []): Set<ConnectionId> {
  return new Set(rows.flatMap(({ connection }) => (connection.state === "connected" ? [connection.id] : [])));
}

function resolve(
  { secret, allow }: WantedInput,
  namespace: string,
  reach: "local" | SecretRef,
): EntryConnection | Lead {
  if (reach === "local") return { state: "connected", id: localConnection };
  const found = secret(namespace, reach.name);
  if (found.state === "unknown") return { state: "unknown", reason: "SecretUnknown" };
  if (found.state === "missing") return missing(namespace, reach);
  return leadsIn(found.data, allow).at(reach.key);
}

const missing = (namespace: string, { name }: SecretRef): EntryConnection => ({
  state: "unknown",
  reason: "SecretMissing",
  detail: `there is no Secret ${namespace}/${name}`,
});

/** Every change of any mesh asks for all of them, and reading YAML takes long. */
const leadsIn = onceForBoth((data: SecretData, allow: ReadonlySet<KubeconfigLicence>) => ({
  at: oncePer((key: string) => leadAt(data, key, allow)),
}));

/** What somebody wrote into a Secret must not stop the clusters of others, whatever it is. */
function leadAt(data: SecretData, key: string, allow: ReadonlySet<KubeconfigLicence>): EntryConnection | Lead {
  try {
    const text = kubeconfigText(data, key);
    if (text === undefined) return { state: "unknown", reason: "SecretKeyMissing", detail: `there is no key ${key}` };
    return leadIn(text, allow);
  } catch {
    // Without the error: it may quote the Secret.
    return { state: "unknown", reason: "KubeconfigInvalid", detail: "kubeconfig: cannot be read" };
  }
}

function leadIn(text: string, allow: ReadonlySet<KubeconfigLicence>): EntryConnection | Lead {
  const reading = parseKubeconfig(text, { allow });
  if (!reading.ok) {
    const detail = reading.problems.map(({ path, message }) => `${path}: ${message}`).join("; ");
    return { state: "unknown", reason: "KubeconfigInvalid", detail };
  }
  return { id: brand(connectionId(reading.connection).slice(0, 16)), config: reading.connection };
}
