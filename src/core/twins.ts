import type { ClusterName, ConnectionId } from "./ids.ts";
import type { ClusterView, ConnectedMesh, EntryConnection } from "./world.ts";

/** Connections that lead to a cluster which another one speaks for, each with that one. */
export type Twins = ReadonlyMap<ConnectionId, ConnectionId>;

/**
 * Two kubeconfigs may lead to one cluster: a shared Node UID tells, where the same authority vouches for both servers; a
 * cluster that only copies the UIDs of another must not speak for it. The first of them, in the order given, speaks: two
 * that plan one target would write against each other for ever. One that cannot see the Peers speaks only where no other
 * can, and one that is leaving only for others that are. So one that may not write there speaks only where no other may: then
 * they take turns, the one whose writes were refused longest ago first.
 */
export function twinsOf(
  clusters: ReadonlyMap<ConnectionId, ClusterView>,
  leaving: ReadonlySet<ConnectionId> = new Set(),
): Twins {
  const order = ([id, { peers, forbiddenAtMs }]: Seen): number => {
    if (leaving.has(id)) return 3;
    return peers.state !== "known" ? 2 : forbiddenAtMs === undefined ? 0 : 1;
  };
  const sorted = [...clusters]
    .filter(([, { trust }]) => trust !== undefined)
    .sort((a, b) => order(a) - order(b) || refusedAt(a) - refusedAt(b));
  const byTrust = Map.groupBy(sorted, ([, { trust }]) => trust);
  return new Map([...byTrust.values()].filter(({ length }) => length > 1).flatMap(twinsAmong));
}

type Seen = [ConnectionId, ClusterView];

const refusedAt = ([, { forbiddenAtMs = 0 }]: Seen): number => forbiddenAtMs;

/** Of clusters for which one authority vouches. */
function twinsAmong(clusters: readonly Seen[]): [ConnectionId, ConnectionId][] {
  const speakers = new Map<string, ConnectionId>();
  return clusters.flatMap(([id, { nodes }]): [ConnectionId, ConnectionId][] => {
    const uids = nodes.state === "known" ? nodes.items.map(({ uid }) => uid) : [];
    const speaker = uids.map((uid) => speakers.get(uid)).find((found) => found !== undefined);
    for (const uid of uids) if (!speakers.has(uid)) speakers.set(uid, speaker ?? id);
    return speaker ? [[id, speaker]] : [];
  });
}

export function sameTwins(a: Twins, b: Twins): boolean {
  return a.size === b.size && [...a].every(([id, speaker]) => b.get(id) === speaker);
}

/** The meshes with every entry leading to the connection that speaks for its cluster. */
export function speakFor(meshes: readonly ConnectedMesh[], twins: Twins): readonly ConnectedMesh[] {
  if (twins.size === 0) return meshes;
  return meshes.map(({ connections, ledger, ...rest }) => {
    const spokenFor = [...connections].flatMap(([name, connection]): [ClusterName, ConnectionId][] =>
      connection.state === "connected" && twins.has(connection.id) ? [[name, connection.id]] : [],
    );
    const spoken = [...connections].map(([name, connection]): [ClusterName, EntryConnection] => {
      const speaker = connection.state === "connected" ? twins.get(connection.id) : undefined;
      return [name, speaker ? { state: "connected", id: speaker } : connection];
    });
    const reached = new Set([...ledger].map((id) => twins.get(id) ?? id));
    return { ...rest, connections: new Map(spoken), spokenFor: new Map(spokenFor), ledger: reached };
  });
}
