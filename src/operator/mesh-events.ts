import { type ClusterMeshObject, clusterMeshes } from "../api/cluster-mesh.ts";
import { labels } from "../api/names.ts";
import type { ClusterMeshStatus } from "../api/schema.ts";
import { isInformation, noteReasons } from "../core/reasons.ts";
import type { Leftover } from "../core/release.ts";
import { verdict } from "../core/verdict.ts";
import type { EventInput } from "../kube/events.ts";
import { apiVersionOf } from "../kube/resource.ts";

/** A change of a mesh's status that a person wants to hear of. */
export interface MeshEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly note: string;
  /** True for the one that says that Ready has turned. */
  readonly isReady?: true;
}

type Cluster = NonNullable<ClusterMeshStatus["clusters"]>[number];
type Row = NonNullable<Cluster["notes"]>[number];

/** What a cluster goes through when it is connected is no news. */
const passing = new Set<string | undefined>(["Connecting", "SecretUnknown"]);

/**
 * What happened between two statuses: Ready turned, something needs a person, a cluster was lost or found, a note
 * appeared. From what is stored alone, so that a restart tells nothing twice.
 */
export function eventsBetween(before: ClusterMeshStatus, after: ClusterMeshStatus): MeshEvent[] {
  const clusters = (after.clusters ?? []).flatMap((cluster) => {
    const was = before.clusters?.find(({ name }) => name === cluster.name);
    return [...stateEvents(was, cluster), ...noteEvents(was, cluster)];
  });
  return [...readyEvents(before, after), ...degradedEvents(before, after), ...clusters];
}

const conditionOf = ({ conditions = [] }: ClusterMeshStatus, type: string) =>
  conditions.find((condition) => condition.type === type);

function readyEvents(before: ClusterMeshStatus, after: ClusterMeshStatus): MeshEvent[] {
  const now = conditionOf(after, "Ready");
  if (!now || conditionOf(before, "Ready")?.reason === now.reason) return [];
  const isFine = now.status === "True" || now.reason === "Syncing" || isConnecting(after);
  return [{ type: isFine ? "Normal" : "Warning", reason: now.reason, note: now.message, isReady: true }];
}

/** Every cluster that is unknown is on its way. */
function isConnecting(status: ClusterMeshStatus): boolean {
  const lost = (status.clusters ?? []).filter(({ state }) => state === "Unknown");
  return lost.length > 0 && lost.every(({ reason }) => passing.has(reason));
}

/** Only what neither Ready nor a cluster tells of itself. */
function degradedEvents(before: ClusterMeshStatus, after: ClusterMeshStatus): MeshEvent[] {
  const was = conditionOf(before, "Degraded");
  const now = conditionOf(after, "Degraded");
  if (now?.status !== "True" || (was?.status === "True" && was.reason === now.reason)) return [];
  const isTold =
    now.reason in noteReasons || now.reason === "ClustersUnknown" || now.reason === conditionOf(after, "Ready")?.reason;
  return isTold ? [] : [{ type: "Warning", reason: now.reason, note: now.message }];
}

function stateEvents(was: Cluster | undefined, { name, state, reason = "", message = "" }: Cluster): MeshEvent[] {
  if (state === "Unknown") {
    const isNews = was?.state !== "Unknown" || was.reason !== reason;
    return isNews && !passing.has(reason) ? [{ type: "Warning", reason, note: `${name}: ${message}` }] : [];
  }
  const isFound = was?.state === "Unknown" && !passing.has(was.reason);
  return isFound ? [{ type: "Normal", reason: "ClusterKnown", note: `${name} is known again` }] : [];
}

function noteEvents(was: Cluster | undefined, { name, notes = [] }: Cluster): MeshEvent[] {
  const known = new Set((was?.notes ?? []).map(({ reason }) => reason));
  return notes.filter(({ reason }) => !known.has(reason)).map((row) => noteEvent(name, row));
}

function noteEvent(cluster: string, { reason, count, examples = [] }: Row): MeshEvent {
  const table: Readonly<Record<string, { readonly waits: boolean; readonly hint: string }>> = noteReasons;
  const { waits = false, hint = "" } = table[reason] ?? {};
  const more = count > examples.length ? [`and ${count - examples.length} more`] : [];
  const note = `${cluster}: ${[...examples, ...more].join("; ")}. ${hint}`;
  return { type: waits || isInformation(reason) ? "Normal" : "Warning", reason, note };
}

/** The Event as it is recorded. */
export function eventAbout(object: ClusterMeshObject, { type, reason, note }: MeshEvent): EventInput {
  return { regarding: regarding(object), type, reason, action: "Report", note };
}

/** The Event that names the clusters in which a deleted mesh may have left Peers. */
export function leftoversEvent(object: ClusterMeshObject, leftovers: readonly Leftover[]): EventInput {
  const found = verdict(
    "True",
    "PeersLeft",
    leftovers.map(({ cluster, why }) => `${cluster} (${why})`),
  );
  const look = `kubectl get peers --selector ${labels.mesh}=${object.metadata.name}`;
  const note = `Peers may be left in ${found.message}. Look there: ${look}`;
  return { regarding: regarding(object), type: "Warning", reason: found.reason, action: "Delete", note };
}

function regarding({ metadata: { name, namespace = "", uid = "" } }: ClusterMeshObject): EventInput["regarding"] {
  return { apiVersion: apiVersionOf(clusterMeshes), kind: clusterMeshes.kind, namespace, name, uid };
}
