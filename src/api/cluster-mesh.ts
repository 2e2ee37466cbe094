import { isDeepStrictEqual } from "node:util";
import { type Cidr, contains, parseCidr } from "../core/cidr.ts";
import { clusterName, type MeshId, meshId } from "../core/ids.ts";
import type { LedgerRow } from "../core/ledger.ts";
import {
  declaredNetworks,
  firstProblems,
  type Mesh,
  type MeshEntry,
  type MeshProblem,
  type Networks,
  overlapsWithin,
} from "../core/mesh.ts";
import type { KubeObject } from "../kube/object.ts";
import type { Resource } from "../kube/resource.ts";
import { type NamedClusters, namedClusters } from "./named-clusters.ts";
import { group, reconcileTrigger, version } from "./names.ts";
import { fieldsOf } from "./received.ts";
import { type ClusterMeshEntry, type ClusterMeshStatus, clusterMeshSpec } from "./schema.ts";
import { readLedger, readStatus } from "./stored-status.ts";

export interface ClusterMeshObject extends KubeObject {
  readonly spec?: unknown;
  readonly status?: ClusterMeshStatus;
}

export const clusterMeshes: Resource<ClusterMeshObject> = {
  group,
  version,
  plural: "clustermeshes",
  kind: "ClusterMesh",
  namespaced: true,
};

/** A ClusterMesh as we use it: valid, or refused with every problem at once. The object stays for its status. */
export type MeshRecord = {
  readonly id: MeshId;
  readonly object: ClusterMeshObject;
  readonly namespace: string;
  /** When its deletion was asked for. */
  readonly deletedAt: string | undefined;
  /** How long its deletion waits for a cluster that is not being emptied, also where the rest of the spec cannot be used. */
  readonly deletionTimeoutSeconds: number;
  readonly ledger: readonly LedgerRow[];
  /** The clusters of its spec, also where the rest of that cannot be used. */
  readonly named: NamedClusters;
} & (
  | { readonly state: "valid"; readonly mesh: Mesh }
  | { readonly state: "refused"; readonly problems: readonly MeshProblem[] }
);

/** What the operator's owner lets meshes do. */
export interface MeshPolicy {
  /** Empty: anything. */
  readonly allowedCidrs: readonly Cidr[];
  /** Namespaces whose meshes may name the local cluster. Empty: all. */
  readonly localNamespaces: ReadonlySet<string>;
}

const anything: MeshPolicy = { allowedCidrs: [], localNamespaces: new Set() };

export function readMesh(stored: ClusterMeshObject, policy: MeshPolicy = anything): MeshRecord {
  const object = withStatus(stored, readStatus(stored.status));
  const namespace = object.metadata.namespace ?? "";
  const id = meshId(namespace, object.metadata.name);
  const deletedAt = object.metadata.deletionTimestamp;
  const deletionTimeoutSeconds = readTimeout(fieldsOf(object.spec).deletionTimeout);
  const ledger = readLedger(stored.status);
  const named = namedClusters(object.spec, mayBeLocal(namespace, policy));
  return { id, object, namespace, deletedAt, deletionTimeoutSeconds, ledger, named, ...readSpec(object, policy) };
}

function withStatus(object: ClusterMeshObject, status: ClusterMeshStatus | undefined): ClusterMeshObject {
  if (object.status === status) return object;
  const { status: _, ...rest } = object;
  return status ? { ...rest, status } : rest;
}

type SpecReading =
  | { readonly state: "valid"; readonly mesh: Mesh }
  | { readonly state: "refused"; readonly problems: readonly MeshProblem[] };

function readSpec(object: ClusterMeshObject, policy: MeshPolicy): SpecReading {
  const parsed = clusterMeshSpec.safeParse(object.spec);
  if (!parsed.success) return refused(parsed.error.issues.map(schemaProblem));
  const { clusters } = parsed.data;
  const networks = clusters.reduce((sum, entry) => sum + networkCount(entry), 0);
  if (networks > mostNetworks) return refused([tooMany(networks)]);
  const problems: MeshProblem[] = [];
  const entries = clusters.map((entry, index) => readEntry(entry, `spec.clusters[${index}]`, problems));
  const declared = [...problems, ...problemsAmong(clusters)];
  if (declared.length > 0) return refused(declared);
  const mesh = { ...identityOf(object), entries: entries.flatMap((entry) => entry ?? []) };
  const faults = [...overlapsWithin(mesh), ...firstProblems(breaches(mesh, policy))];
  return faults.length > 0 ? { state: "refused", problems: faults } : { state: "valid", mesh };
}

/** No real mesh has so many, and each is looked at whenever the mesh changes. */
const mostNetworks = 10_000;

const tooMany = (networks: number): MeshProblem => ({
  field: "spec.clusters",
  message: `${networks} networks are declared, which is more than ${mostNetworks}`,
});

const networkCount = ({ allowedNetworks = [], podCIDRs = [], additionalCIDRs = [] }: ClusterMeshEntry): number =>
  allowedNetworks.length + podCIDRs.length + additionalCIDRs.length;

const refused = (problems: readonly MeshProblem[]): SpecReading => ({
  state: "refused",
  problems: firstProblems(problems),
});

function schemaProblem({
  path,
  message,
}: {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}): MeshProblem {
  return { field: ["spec", ...path].join("."), message };
}

const mayBeLocal = (namespace: string, { localNamespaces }: MeshPolicy): boolean =>
  localNamespaces.size === 0 || localNamespaces.has(namespace);

function breaches({ namespace, name, entries }: Mesh, policy: MeshPolicy): MeshProblem[] {
  const { allowedCidrs } = policy;
  const isAllowed = (cidr: Cidr): boolean =>
    allowedCidrs.length === 0 || allowedCidrs.some((allowed) => contains(allowed, cidr));
  const networks = entries.flatMap((entry) =>
    declaredNetworks(entry)
      .filter((cidr) => !isAllowed(cidr))
      .map(({ text }) => ({ field: "spec.clusters", message: `${text} of ${entry.name} is outside --allowed-cidr` })),
  );
  const local = entries
    .filter(({ reach }) => reach === "local" && !mayBeLocal(namespace, policy))
    .map((entry) => ({
      field: "spec.clusters",
      message: `${entry.name} is local, which --local-namespaces does not let ${namespace} say`,
    }));
  const long = name.length > longestLabel ? [{ field: "metadata.name", message: "is longer than a label may be" }] : [];
  return [...networks, ...local, ...long];
}

const longestLabel = 63;

/** Any change counts: a status must be judged against the newest one. */
export function sameMeshRecord(a: MeshRecord, b: MeshRecord): boolean {
  return a.object.metadata.resourceVersion === b.object.metadata.resourceVersion;
}

/** True when a change asks for new connections or Peers; what we write into the status does not, but for the ledger. */
export function isMeshEdit(before: MeshRecord | undefined, after: MeshRecord | undefined): boolean {
  const left = before?.object.metadata;
  const right = after?.object.metadata;
  return (
    !isDeepStrictEqual(before?.ledger, after?.ledger) ||
    left?.uid !== right?.uid ||
    left?.generation !== right?.generation ||
    left?.deletionTimestamp !== right?.deletionTimestamp ||
    isTriggered(before, after)
  );
}

/** Somebody asks for a fresh look at the clusters of the mesh. */
export function isTriggered(before: MeshRecord | undefined, after: MeshRecord | undefined): boolean {
  const asked = (record: MeshRecord | undefined) => record?.object.metadata.annotations?.[reconcileTrigger];
  return before !== undefined && after !== undefined && asked(before) !== asked(after);
}

/** `1h30m` in seconds; nothing of everything, as `0` and `0s` say it, waits for ever. */
function readTimeout(said: unknown): number {
  const { data: text = "10m" } = clusterMeshSpec.shape.deletionTimeout.safeParse(said);
  const units: Readonly<Record<string, number>> = { h: 3600, m: 60, s: 1 };
  const parts = [...text.matchAll(/(\d+)([hms])/g)];
  const seconds = parts.reduce((sum, [, count, unit = "s"]) => sum + Number(count) * (units[unit] ?? 1), 0);
  return seconds > 0 ? seconds : Number.POSITIVE_INFINITY;
}

function identityOf({ metadata }: ClusterMeshObject): Omit<Mesh, "entries"> {
  const namespace = metadata.namespace ?? "";
  return {
    id: meshId(namespace, metadata.name),
    namespace,
    name: metadata.name,
    generation: metadata.generation ?? 0,
    createdAt: metadata.creationTimestamp ?? "",
  };
}

function readEntry(entry: ClusterMeshEntry, field: string, problems: MeshProblem[]): MeshEntry | undefined {
  const networks = readNetworks(entry, field, problems);
  const reach = entry.local ? "local" : entry.kubeconfigSecretRef;
  if (!reach) problems.push({ field, message: "needs local: true or a kubeconfigSecretRef" });
  if (!reach || !networks) return undefined;
  const ignoredFields = entry.allowedNetworks ? typedFields.filter((name) => entry[name] !== undefined) : [];
  return {
    name: clusterName(entry.name),
    reach,
    networks,
    ...(ignoredFields.length > 0 && { ignoredFields }),
    wireguardPort: entry.wireguardPort,
    keepaliveSeconds: entry.persistentKeepalive ?? 0,
    endpointDiscovery: entry.endpointDiscovery ?? "Auto",
  };
}

const typedFields = ["podCIDRs", "wireguardCIDR", "serviceCIDR", "additionalCIDRs"] as const;

/** An entry with both forms is read as the flat one. */
function readNetworks(entry: ClusterMeshEntry, field: string, problems: MeshProblem[]): Networks | undefined {
  const cidrs = (name: string, texts: readonly string[]): Cidr[] =>
    texts.flatMap((text, index) => {
      const parsed = parseCidr(text);
      const path = `${field}.${name}${texts.length > 1 || name.endsWith("s") ? `[${index}]` : ""}`;
      if (!parsed) problems.push({ field: path, message: `${JSON.stringify(text)} is not a CIDR` });
      return parsed ?? [];
    });
  if (entry.allowedNetworks) return { form: "flat", allowed: cidrs("allowedNetworks", entry.allowedNetworks) };
  if (!entry.podCIDRs || !entry.wireguardCIDR) {
    problems.push({ field, message: "needs allowedNetworks, or podCIDRs and wireguardCIDR" });
    return undefined;
  }
  const pods = cidrs("podCIDRs", entry.podCIDRs);
  const [wireguard] = cidrs("wireguardCIDR", [entry.wireguardCIDR]);
  const service = cidrs("serviceCIDR", entry.serviceCIDR ? [entry.serviceCIDR] : []);
  const additional = cidrs("additionalCIDRs", entry.additionalCIDRs ?? []);
  return wireguard && { form: "typed", pods, wireguard, clusterWide: [...service, ...additional] };
}

function problemsAmong(entries: readonly ClusterMeshEntry[]): MeshProblem[] {
  const named = Map.groupBy(entries, ({ name }) => name);
  const twice = [...named].filter(([, { length }]) => length > 1);
  const messages = twice.map(([name]) => `two entries are named ${name}`);
  const locals = entries.filter(({ local }) => local).length;
  const more = locals > 1 ? ["more than one entry is local"] : [];
  return [...messages, ...more].map((message) => ({ field: "spec.clusters", message }));
}
