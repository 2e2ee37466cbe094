import { type ClusterMeshObject, readMesh } from "../../src/api/cluster-mesh.ts";
import type { ClusterMeshStatus } from "../../src/api/schema.ts";
import type { DrainRow } from "../../src/core/drain.ts";
import { clusterName, type MeshId } from "../../src/core/ids.ts";
import type { HeldPeer } from "../../src/core/peer.ts";
import { planTarget } from "../../src/core/plan.ts";
import type { Refusal } from "../../src/core/status.ts";
import type { ClusterView, EntryConnection, Observation } from "../../src/core/world.ts";
import { type TendPorts, tendMesh } from "../../src/operator/tend-mesh.ts";
import { aMesh, aMeshObject, aNode, aView, aWorld, conn, draining, heldAs, known, planOf } from "./build.ts";
import { FakeClock } from "./fake-clock.ts";

export const clock = new FakeClock();
export const finalizers = ["kilo-clustermesh.io/cleanup"];
export const ago = (seconds: number): string => new Date(clock.date().getTime() - seconds * 1000).toISOString();

export interface Scene {
  readonly metadata?: Partial<ClusterMeshObject["metadata"]>;
  readonly two?: Partial<ClusterView>;
  readonly second?: EntryConnection;
  /** Where the second leads through another Secret that it had before. */
  readonly other?: EntryConnection;
  readonly deletionTimeout?: string;
  readonly spec?: object;
  readonly uptimeMs?: number;
  readonly refused?: ReadonlySet<MeshId>;
  /** Where the Secret of the second led before. */
  readonly before?: DrainRow["before"];
  readonly third?: ClusterView;
  /** What the last run over the second cluster was refused. */
  readonly refusals?: readonly Refusal[];
  readonly status?: ClusterMeshStatus;
  /** False: the clusters were last looked up before it was deleted. */
  readonly isLookedUp?: boolean;
  /** False: what was planned before is still under way in the second cluster. */
  readonly isPlanned?: boolean;
}

/** A mesh of two clusters, the second as the scene says, and what is written about it. */
export function play({ metadata, two, second = { state: "connected", id: conn(2) }, ...scene }: Scene) {
  const { deletionTimeout, other, uptimeMs = 3_600_000, refused = new Set(), refusals = [], status } = scene;
  const { isLookedUp = true, isPlanned = true } = scene;
  const plain = aMeshObject(2);
  const spec = { ...(scene.spec ?? (plain.spec as object)), ...(deletionTimeout && { deletionTimeout }) };
  const object: ClusterMeshObject = {
    ...plain,
    spec,
    ...(status && { status }),
    metadata: { ...plain.metadata, resourceVersion: "7", ...metadata },
  };
  const record = readMesh(object);
  const views = [aView([aNode(1, 0)]), aView([aNode(2, 0)], two), ...(scene.third ? [scene.third] : [])];
  const going = isLookedUp ? [draining(aMesh(2))] : [];
  const world = aWorld({ views, overrides: { refused, draining: going } });
  const writes: string[] = [];
  const told: string[] = [];
  const reports = [1, 2].map((target) => {
    const plan = planTarget(world, conn(target));
    const spec = target === 2 && !isPlanned ? {} : world.spec;
    return [conn(target), { spec, plan, refusals: target === 2 ? refusals : [], pending: 0 }] as const;
  });
  const rows: DrainRow[] = [
    { cluster: clusterName("c1"), reach: "local", connection: { state: "connected", id: conn(1) } },
    {
      cluster: clusterName("c2"),
      reach: { name: "c2", key: "kubeconfig" },
      connection: second,
      ...(scene.before && { before: scene.before }),
    },
    ...(other ? [{ cluster: clusterName("c2"), reach: { name: "old", key: "kubeconfig" }, connection: other }] : []),
  ];
  const write = (what: string) => async (_: unknown, body: object, version?: string) => {
    writes.push(`${what} ${JSON.stringify(body)}${version ? ` on ${version}` : ""}`);
    return undefined;
  };
  const ports: TendPorts = {
    mesh: () => record,
    observe: () => world,
    reports: new Map(reports),
    ledger: () => rows,
    clock,
    uptimeMs: () => uptimeMs,
    written: new Map(),
    patchMeta: write("metadata"),
    patchStatus: write("status"),
    tell: (_, events) => void told.push(...events.map(({ type, reason, note }) => `${type} ${reason} ${note}`)),
    tellLeftovers: (_, left) => void writes.push(`left in ${left.map(({ cluster, why }) => `${cluster} (${why})`)}`),
  };
  return { writes, told, outcome: tendMesh(record.id, ports) };
}

/** What the second cluster holds after a sync; of others as well where that is said. */
export function peersOfMesh(...others: readonly MeshId[]): Observation<HeldPeer> {
  const record = readMesh(aMeshObject(2));
  if (record.state === "refused") throw new Error("unreachable");
  const world = aWorld({ meshes: [record.mesh], views: [aView([aNode(1, 0)]), aView([aNode(2, 0)])] });
  return known(planOf(world, 2).peers.map((peer) => heldAs({ ...peer, owners: [...peer.owners, ...others] })));
}

/** The same, each with a finalizer of somebody. */
export function terminating(): Observation<HeldPeer> {
  const held = peersOfMesh();
  return known(held.state === "known" ? held.items.map((one) => ({ ...one, isTerminating: true })) : []);
}
