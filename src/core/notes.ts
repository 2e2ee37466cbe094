import { sameEndpoint } from "./endpoint.ts";
import type { ClusterName, ConnectionId, MeshId } from "./ids.ts";
import type { Mesh } from "./mesh.ts";
import { onceForBoth } from "./once-per.ts";
import type { NoteReason } from "./reasons.ts";
import type { Candidate } from "./render.ts";
import { leadsTo } from "./source.ts";
import type { MeshStatusInput } from "./status.ts";
import type { ConnectedMesh } from "./world.ts";

/** Something that works, but not as declared: told to the meshes it concerns, about one of their clusters. */
export interface Note {
  readonly owners: readonly MeshId[];
  /** The entry it is about. */
  readonly source: ClusterName;
  readonly reason: NoteReason;
  /** What exactly: a node, a route, a Peer. */
  readonly subject: string;
}

export type NotesBySource = ReadonlyMap<ClusterName, readonly Note[]>;

/** What a list of notes says to a mesh, by the entry it is about. */
export const notesBySource = onceForBoth(
  ({ id }: Mesh, notes: readonly Note[]): NotesBySource =>
    Map.groupBy(
      notes.filter(({ owners }) => owners.includes(id)),
      ({ source }) => source,
    ),
);

/** Two meshes want one node and say different things of it: told to both, each under its own name of the cluster. */
export function conflictNotes(candidates: readonly Candidate[]): Note[] {
  const [one] = candidates;
  if (candidates.every(({ mesh, rank }) => mesh === one?.mesh && rank === one.rank)) return [];
  const wishes = new Map<string, Candidate[]>();
  for (const wish of candidates) {
    const node = `${wish.publicKey} ${wish.cluster} ${wish.node}`;
    wishes.set(node, [...(wishes.get(node) ?? []), wish]);
  }
  return [...wishes.values()].flatMap((ofNode) => {
    const fields = ofNode.length > 1 ? disputed(ofNode) : [];
    if (fields.length === 0) return [];
    return ofNode.map(({ owners, source, node }): Note => {
      return { owners, source, reason: "EntryConflict", subject: `${node}: ${fields.join(", ")}` };
    });
  });
}

/** The fields of the spec in which the meshes differ; one mesh does not differ with itself. */
function disputed([first, ...others]: readonly Candidate[]): string[] {
  if (!first) return [];
  const rivals = others.filter(({ owners }) => !owners.some((owner) => first.owners.includes(owner)));
  return [
    ...(rivals.some(({ pinned }) => pinned !== first.pinned) ? ["endpointDiscovery"] : []),
    ...(rivals.some(({ endpoint }) => !sameEndpoint(endpoint, first.endpoint)) ? ["wireguardPort"] : []),
    ...(rivals.some(({ keepaliveSeconds }) => keepaliveSeconds !== first.keepaliveSeconds)
      ? ["persistentKeepalive"]
      : []),
  ];
}

type NoteInput = Pick<MeshStatusInput, "world" | "connected" | "nodeCommands">;

/** What the spec of a mesh and the way to its clusters say by themselves, whatever a plan knows. */
export function entryNotes({ world, connected, nodeCommands }: NoteInput): Note[] {
  const { meshes, clusters } = world;
  return connected.mesh.entries.flatMap(({ name, ignoredFields = [] }) => {
    const note = (reason: NoteReason, subject: string): Note => ({
      owners: [connected.mesh.id],
      source: name,
      reason,
      subject,
    });
    const other = otherListing(meshes, connected, name);
    const id = leadsTo(connected, name);
    const { polled = [] } = (id && clusters.get(id)) ?? {};
    const command = id && nodeCommands?.get(id);
    return [
      ...(command === undefined ? [] : [note("NodeKeepaliveMissing", command)]),
      ...polled.map((resource) => note("WatchForbidden", `watch ${resource}`)),
      ...(other === undefined ? [] : [note("ClusterListedTwice", other)]),
      ...(ignoredFields.length > 0 ? [note("BothForms", ignoredFields.join(", "))] : []),
    ];
  });
}

/** What else leads to the cluster of an entry: an earlier entry of the mesh, or what another mesh uses. */
function otherListing(
  meshes: readonly ConnectedMesh[],
  connected: ConnectedMesh,
  name: ClusterName,
): string | undefined {
  const id = leadsTo(connected, name);
  if (id === undefined) return undefined;
  const [first] = [...connected.connections.keys()].filter((entry) => leadsTo(connected, entry) === id);
  if (first !== undefined && first !== name) return first;
  const isShared = connected.spokenFor?.has(name) && meshes.some((other) => speaks(other, id));
  return isShared ? "another mesh" : undefined;
}

/** True when one of its own Secrets, or `local`, is the connection that speaks. */
function speaks(connected: ConnectedMesh, id: ConnectionId): boolean {
  return connected.mesh.entries.some(({ name }) => leadsTo(connected, name) === id && !connected.spokenFor?.has(name));
}
