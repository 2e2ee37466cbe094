import { isDeepStrictEqual } from "node:util";
import type { ClusterMeshObject } from "../../src/api/cluster-mesh.ts";
import { nodesOf } from "./expected-peers.ts";
import { type EntryFacts, type Facts, type Letter, type MeshFacts, meshIdOf } from "./facts.ts";

/** Throws unless the mesh says what is true of a mesh in which everything is in order. */
export function assertTrueStatus(facts: Facts, mesh: MeshFacts, { metadata, status }: ClusterMeshObject): void {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  if (ready?.status !== "True") throw new Error(`${meshIdOf(mesh)} is not ready: ${ready?.reason}: ${ready?.message}`);
  for (const { type, observedGeneration } of status?.conditions ?? []) {
    if (observedGeneration !== metadata.generation) throw new Error(`${type} is of an earlier generation`);
  }
  const actual = (status?.clusters ?? []).map(({ name, state, nodes, registeredPeers, skippedNodes, links }) => ({
    name,
    state,
    nodes,
    registeredPeers,
    skippedNodes,
    links: links?.expected,
  }));
  const expected = mesh.entries.map((entry) => expectedCluster(facts, mesh, entry));
  if (!isDeepStrictEqual(actual, expected))
    throw new Error(`the status says ${JSON.stringify(actual)}, true is ${JSON.stringify(expected)}`);
  assertTrueTroubles(
    facts,
    mesh,
    status?.conditions?.find(({ type }) => type === "Degraded"),
  );
}

function expectedCluster(facts: Facts, mesh: MeshFacts, entry: EntryFacts) {
  const nodes = facts.nodes.filter(({ cluster }) => cluster === entry.cluster).length;
  const peered = nodesOf(facts, entry).length;
  const others = new Set(mesh.entries.map(({ cluster }) => cluster)).size - 1;
  const known = { name: entry.name, state: "Known", nodes };
  return { ...known, registeredPeers: peered, skippedNodes: nodes - peered, links: peered * others };
}

type Said = { readonly status: string; readonly reason: string; readonly message: string } | undefined;

/** Degraded has to name everything that is not as declared, and nothing else. */
function assertTrueTroubles(facts: Facts, mesh: MeshFacts, said: Said): void {
  const sure = [...(isMisplaced(facts, mesh) ? ["NodesSkipped"] : []), ...noteReasons(facts, mesh)];
  const isTold = (reason: string): boolean => said?.status === "True" && said.message.includes(`${reason}: `);
  const missing = sure.filter((reason) => !isTold(reason));
  const possible = new Set([...sure, ...(isSharedApart(facts, mesh) ? ["ClusterListedTwice"] : [])]);
  const isTrue = said?.status === "True" ? possible.has(said.reason) : said?.status === "False";
  if (missing.length > 0 || !isTrue)
    throw new Error(`Degraded is ${said?.status}, ${said?.reason}: ${said?.message}; true is ${sure.join() || "none"}`);
}

/** Some node has Kilo and does not live in the networks of its entry: somebody has to correct one of the two. */
function isMisplaced(facts: Facts, { entries }: MeshFacts): boolean {
  return entries.some((entry) => {
    const withKilo = facts.nodes.filter(({ cluster, bare }) => cluster === entry.cluster && !bare);
    return withKilo.length > nodesOf(facts, entry).length;
  });
}

function noteReasons(facts: Facts, mesh: MeshFacts): string[] {
  const clusters = mesh.entries.map(({ cluster }) => cluster);
  return [
    ...(new Set(clusters).size < clusters.length ? ["ClusterListedTwice"] : []),
    ...(mesh.entries.some((entry) => nodesOf(facts, entry).some(({ silent }) => silent)) ? ["NodeSilent"] : []),
    ...(rivals(facts, mesh).some((other) => isInConflict(mesh, other)) ? ["EntryConflict"] : []),
  ];
}

const rivals = ({ meshes }: Facts, mesh: MeshFacts): MeshFacts[] =>
  meshes.filter((other) => other.home === mesh.home && meshIdOf(other) !== meshIdOf(mesh));

/** Both give nodes of one cluster to another, with different keepalives. */
function isInConflict(mesh: MeshFacts, other: MeshFacts): boolean {
  const theirs = new Set(other.entries.map(({ cluster }) => cluster));
  const shared = new Set(mesh.entries.map(({ cluster }) => cluster).filter((cluster) => theirs.has(cluster)));
  return shared.size > 1 && keepaliveOf(mesh) !== keepaliveOf(other);
}

const keepaliveOf = ({ entries }: MeshFacts): number =>
  Math.max(0, ...entries.map(({ persistentKeepalive = 0 }) => persistentKeepalive));

/** Two meshes reach a cluster with credentials of their own: the facts do not say whose is used for both. */
function isSharedApart(facts: Facts, mesh: MeshFacts): boolean {
  const way = ({ namespace }: MeshFacts, { secret }: EntryFacts): string => (secret ? `${namespace}/${secret}` : "");
  const waysTo = (cluster: Letter): Set<string> =>
    new Set(
      [mesh, ...rivals(facts, mesh)].flatMap((one) =>
        one.entries.filter((entry) => entry.cluster === cluster).map((entry) => way(one, entry)),
      ),
    );
  return mesh.entries.some(({ cluster }) => waysTo(cluster).size > 1);
}
