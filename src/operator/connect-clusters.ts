import { isDeepStrictEqual } from "node:util";
import type { MeshRecord } from "../api/cluster-mesh.ts";
import { finalizer } from "../api/names.ts";
import type { DrainRow } from "../core/drain.ts";
import type { MeshId } from "../core/ids.ts";
import { ledgerWith } from "../core/ledger.ts";
import type { ConnectedMesh, DrainingMesh } from "../core/world.ts";
import type { KubeconfigLicence } from "../kube/kubeconfig.ts";
import type { Registry } from "../registry/registry.ts";
import type { Rotations } from "../registry/rotations.ts";
import type { SecretRefInNamespace, SecretWatches } from "../registry/secret-watches.ts";
import { type MeshWish, secretKey, wantedConnections } from "../registry/wanted.ts";
import { done, type Outcome, waiting } from "../runtime/outcome.ts";

/** What the meshes ask for, as it stands after the last run. */
export interface Topology {
  readonly meshes: readonly ConnectedMesh[];
  readonly refused: ReadonlySet<MeshId>;
  /** Those that are released when their Peers are gone. */
  readonly draining: readonly DrainingMesh[];
  readonly ledgers: ReadonlyMap<MeshId, readonly DrainRow[]>;
}

/** True when nothing changed that a plan could see. */
export function sameTopology(a: Topology, b: Topology): boolean {
  return isDeepStrictEqual(a, b);
}

export interface ConnectPorts {
  /** Undefined before the list of meshes is known. */
  readonly meshes: () => readonly MeshRecord[] | undefined;
  readonly secrets: SecretWatches;
  readonly registry: Registry;
  readonly rotations: Rotations;
  readonly allow: ReadonlySet<KubeconfigLicence>;
  readonly settle: (topology: Topology) => void;
}

const lookAgainMs = 5000;

/** Meshes and Secrets → the clusters we are connected to. */
export async function connectClusters(ports: ConnectPorts): Promise<Outcome> {
  const records = ports.meshes();
  if (!records) return waiting("meshes unknown", lookAgainMs);
  const wishes = records.map(wishOf);
  const refused = records.filter(({ state, deletedAt }) => state === "refused" && !deletedAt).map(({ id }) => id);
  await ports.secrets.follow(wishes.flatMap(secretsOf));
  const secret = ports.secrets.state.bind(ports.secrets);
  const { rotations, allow } = ports;
  rotations.retain(new Set(wishes.flatMap(secretKeysOf)));
  const { meshes, ledgers, remote } = wantedConnections({ wishes, secret, allow, rotations });
  ports.registry.want(remote);
  const draining = records.filter(isAwaited).map((record) => drainingMesh(record, ledgers.get(record.id)));
  ports.settle({ meshes, ledgers, draining, refused: new Set(refused) });
  return done;
}

function wishOf(record: MeshRecord): MeshWish {
  const { id, namespace, ledger, named, deletedAt } = record;
  if (isAwaited(record)) return { id, namespace, ledger: ledgerWith(named.rows, ledger) };
  return record.state === "valid" && !deletedAt
    ? { id, namespace, ledger, mesh: record.mesh }
    : { id, namespace, ledger };
}

/** It waits for us to be gone. The Go operator wrote no ledger: there its entries name the clusters, as far as they do. */
const isAwaited = ({ deletedAt, object }: MeshRecord): boolean =>
  deletedAt !== undefined && (object.metadata.finalizers?.includes(finalizer) ?? false);

function drainingMesh({ id, object, named }: MeshRecord, rows: readonly DrainRow[] = []): DrainingMesh {
  const clusters = rows.flatMap(({ connection, last }) => {
    if (connection.state === "connected") return [connection.id];
    return last === undefined || last === "empty" ? [] : [last];
  });
  return { id, name: object.metadata.name, sources: named.sources, clusters };
}

/** The Secrets that lead to the clusters of a mesh, by its spec or by its ledger. */
export const secretsBehind = (record: MeshRecord): SecretRefInNamespace[] => secretsOf(wishOf(record));

const reachesOf = ({ mesh, ledger }: MeshWish) => [...(mesh?.entries ?? []), ...ledger].map(({ reach }) => reach);

const secretKeysOf = (wish: MeshWish): string[] => reachesOf(wish).map((reach) => secretKey(wish.namespace, reach));

function secretsOf(wish: MeshWish): SecretRefInNamespace[] {
  const { namespace } = wish;
  return reachesOf(wish).flatMap((reach) => (reach === "local" ? [] : [{ namespace, name: reach.name }]));
}
