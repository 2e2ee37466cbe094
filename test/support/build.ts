import { createHash } from "node:crypto";
import { type ClusterMeshObject, readMesh } from "../../src/api/cluster-mesh.ts";
import { readPeer, renderPeer } from "../../src/api/kilo-peer.ts";
import { type ConnectionId, clusterName, connectionId, nodeName } from "../../src/core/ids.ts";
import type { Mesh } from "../../src/core/mesh.ts";
import type { NodeFacts } from "../../src/core/node.ts";
import type { HeldPeer, Peer } from "../../src/core/peer.ts";
import { type KnownPlan, planTarget } from "../../src/core/plan.ts";
import type { ClusterView, ConnectedMesh, DrainingMesh, Observation, World } from "../../src/core/world.ts";

/** A valid WireGuard key that differs by seed. */
export function aKey(seed: string): string {
  return createHash("sha256").update(seed).digest("base64");
}

/** A well-formed node of cluster number `cluster`, number `index` in it. */
export function aNode(cluster: number, index: number, overrides: Partial<NodeFacts> = {}): NodeFacts {
  const name = nodeName(`c${cluster}-n${index}`);
  return {
    name,
    uid: `uid-${name}`,
    podCidrs: [`10.${cluster}.${index}.0/24`],
    wireguardIp: `10.200.${cluster}.${index + 1}/24`,
    key: aKey(name),
    clustermeshEndpoint: "",
    kiloEndpoint: "",
    granularity: "full",
    location: "",
    keepalive: "",
    keepaliveMark: "",
    forceEndpoint: `198.51.100.${cluster * 10 + index}:51820`,
    externalIps: [],
    internalIps: [`172.16.${cluster}.${index + 1}`],
    ...overrides,
  };
}

export interface EntryOverrides {
  readonly serviceCIDR?: string;
  readonly persistentKeepalive?: number;
  readonly additionalCIDRs?: readonly string[];
  /** The flat form, which counts alone. */
  readonly allowedNetworks?: readonly string[];
}

/** A ClusterMesh over clusters 1..n; number 1 is local. */
export function aMeshObject(clusters: number, overrides: EntryOverrides = {}, name = "my-mesh"): ClusterMeshObject {
  const entries = Array.from({ length: clusters }, (_, index) => ({
    name: `c${index + 1}`,
    ...(index === 0 ? { local: true } : { kubeconfigSecretRef: { name: `c${index + 1}`, key: "kubeconfig" } }),
    podCIDRs: [`10.${index + 1}.0.0/16`],
    wireguardCIDR: `10.200.${index + 1}.0/24`,
    ...(index === 0 ? overrides : {}),
  }));
  return { metadata: { name, namespace: "kilo-system", uid: name, generation: 1 }, spec: { clusters: entries } };
}

export function aMesh(clusters: number, overrides: EntryOverrides = {}, name = "my-mesh"): Mesh {
  const record = readMesh(aMeshObject(clusters, overrides, name));
  if (record.state === "refused") throw new Error(JSON.stringify(record.problems));
  return record.mesh;
}

export const known = <T>(items: readonly T[]): Observation<T> => ({ state: "known", items });
export const unknown: Observation<never> = { state: "unknown", reason: "Unreachable" };

export function aView(nodes: readonly NodeFacts[], overrides: Partial<ClusterView> = {}): ClusterView {
  return {
    nodes: known(nodes),
    peers: known([]),
    departures: [],
    strippedMs: new Map(),
    silent: new Set(),
    observed: new Map(),
    moveAgesMs: new Map(),
    endpointAgesMs: new Map(),
    absenceProven: true,
    trust: "ca",
    ...overrides,
  };
}

export const conn = (cluster: number): ConnectionId => connectionId(cluster === 1 ? "local" : `conn-${cluster}`);

/** Every entry leads to the connection of its number. */
export function connected(mesh: Mesh): ConnectedMesh {
  const connections = mesh.entries.map(
    ({ name }) => [clusterName(name), { state: "connected", id: conn(Number(name.slice(1))) }] as const,
  );
  return { mesh, connections: new Map(connections), ledger: new Set(connections.map(([, { id }]) => id)) };
}

/** The same mesh while it is being deleted. */
export function draining({ id, name, entries }: Mesh): DrainingMesh {
  const clusters = entries.map((entry) => conn(Number(entry.name.slice(1))));
  return { id, name, sources: entries.map((entry) => entry.name), clusters };
}

export interface WorldParts {
  readonly meshes?: readonly Mesh[];
  readonly views: readonly ClusterView[];
  readonly overrides?: Partial<World>;
}

const digest = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Views in order of the clusters' numbers. */
export function aWorld({ meshes = [], views, overrides }: WorldParts): World {
  return {
    instance: "me",
    spec: meshes,
    twins: new Map(),
    leaving: new Set(),
    servers: [],
    ghostsMayGo: false,
    allowedCidrs: [],
    resolved: new Map(),
    meshes: meshes.map(connected),
    refused: new Set(),
    draining: [],
    clusters: new Map(views.map((view, index) => [conn(index + 1), view])),
    digest,
    ...overrides,
  };
}

export function planOf(world: World, cluster: number): KnownPlan {
  const plan = planTarget(world, conn(cluster));
  if (plan.state === "unknown") throw new Error(`the plan is unknown: ${plan.reason}`);
  return plan;
}

/** The Peer as the target holds it after it was written. */
export function heldAs(peer: Peer, overrides: Partial<HeldPeer> = {}): HeldPeer {
  return { ...readPeer(renderPeer(peer, "me")), ...overrides };
}
