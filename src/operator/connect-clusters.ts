import { isDeepStrictEqual } from "node:util";
import type { MeshRecord } from "../api/cluster-mesh.ts";
import type { ConnectionId, MeshId } from "../core/ids.ts";
import type { Mesh } from "../core/mesh.ts";
import type { ConnectedMesh } from "../core/world.ts";
import type { KubeconfigLicence } from "../kube/kubeconfig.ts";
import type { Registry } from "../registry/registry.ts";
import type { SecretRefInNamespace, SecretWatches } from "../registry/secret-watches.ts";
import { entryKey, wantedConnections } from "../registry/wanted.ts";
import { done, type Outcome, waiting } from "../runtime/outcome.ts";

/** What the meshes ask for, as it stands after the last run. */
export interface Topology {
  readonly meshes: readonly ConnectedMesh[];
  readonly refused: ReadonlySet<MeshId>;
}

/** True when nothing changed that a plan could see. */
export function sameTopology(a: Topology, b: Topology): boolean {
  return isDeepStrictEqual([a.meshes, a.refused], [b.meshes, b.refused]);
}

export interface ConnectPorts {
  /** Undefined before the list of meshes is known. */
  readonly meshes: () => readonly MeshRecord[] | undefined;
  readonly secrets: SecretWatches;
  readonly registry: Registry;
  readonly allow: ReadonlySet<KubeconfigLicence>;
  readonly settle: (topology: Topology) => void;
  /** True when the target holds no Peer of ours any more. */
  readonly isEmpty: (target: ConnectionId) => boolean;
}

const lookAgainMs = 5000;

/** Meshes and Secrets → the clusters we are connected to. */
export async function connectClusters(ports: ConnectPorts): Promise<Outcome> {
  const records = ports.meshes();
  if (!records) return waiting("meshes unknown", lookAgainMs);
  const meshes = records.flatMap((record) => (record.state === "valid" ? [record.mesh] : []));
  const refused = new Set(records.flatMap((record) => (record.state === "refused" ? [record.id] : [])));
  await ports.secrets.follow(secretsOf(meshes));
  const secret = ports.secrets.state.bind(ports.secrets);
  const wanted = wantedConnections({ meshes, secret, allow: ports.allow });
  await ports.registry.want(wanted.remote, (user) => entryExists(user, meshes, refused));
  ports.settle({ meshes: wanted.meshes, refused });
  const leaving = await closeLeaving(ports);
  return leaving > 0 ? waiting("clusters leaving", lookAgainMs) : done;
}

function secretsOf(meshes: readonly Mesh[]): SecretRefInNamespace[] {
  return meshes.flatMap(({ namespace, entries }) =>
    entries.flatMap(({ reach }) => (reach === "local" ? [] : [{ namespace, name: reach.name }])),
  );
}

/** The entries of a refused mesh cannot be read; they count as existing. */
function entryExists(user: string, meshes: readonly Mesh[], refused: ReadonlySet<MeshId>): boolean {
  const isRefused = [...refused].some((id) => user.startsWith(`${id}#`));
  return isRefused || meshes.some(({ id, entries }) => entries.some(({ name }) => entryKey(id, name) === user));
}

/** Closes the connections whose clusters are empty or not ours to empty; returns how many still leave. */
async function closeLeaving({ registry, isEmpty }: ConnectPorts): Promise<number> {
  const leaving = registry.ids().filter((id) => registry.isLeaving(id));
  const closing = leaving.filter((id) => registry.fate(id) === "close" || isEmpty(id));
  await Promise.all(closing.map((id) => registry.close(id)));
  return leaving.length - closing.length;
}
