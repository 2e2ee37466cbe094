import { isDeepStrictEqual } from "node:util";
import type { ClusterMeshObject } from "../../src/api/cluster-mesh.ts";
import type { ClusterMeshStatus } from "../../src/api/schema.ts";
import { nodesOf } from "./expected-peers.ts";
import { type ExpectedStatus, expectedStatus, rivals, type Said, sortedLedger } from "./expected-status.ts";
import { type EntryFacts, type Facts, type Letter, type MeshFacts, meshIdOf } from "./facts.ts";

/** Throws unless the mesh says what is true of a mesh in which everything is in order, and nothing else. */
export function assertTrueStatus(facts: Facts, mesh: MeshFacts, { metadata, status = {} }: ClusterMeshObject): void {
  const { Degraded, ...conditions } = saidIn(status);
  const { Ready: ready } = conditions;
  if (ready?.status !== "True") throw new Error(`${meshIdOf(mesh)} is not ready: ${ready?.reason}: ${ready?.message}`);
  const expected = expectedStatus(facts, mesh, metadata.generation ?? 0);
  assertSame({ ...describedStatus(status), conditions }, expected);
  assertTrueTroubles(facts, mesh, Degraded);
  if (Degraded?.observedGeneration !== metadata.generation) throw new Error("Degraded is of an earlier generation");
}

function saidIn({ conditions = [] }: ClusterMeshStatus): Record<string, Said> {
  return Object.fromEntries(
    conditions.map(({ type, status, reason, message, observedGeneration = 0 }) => [
      type,
      { status, reason, message, observedGeneration },
    ]),
  );
}

function describedStatus({ observedGeneration = 0, summary, clusters = [], ledger = [] }: ClusterMeshStatus) {
  return {
    observedGeneration,
    summary,
    clusters: clusters.map(({ name, state, nodes, registeredPeers, skippedNodes, links, skipped }) => {
      return { name, state, nodes, registeredPeers, skippedNodes, links, ...(skipped && { skipped }) };
    }),
    ledger: sortedLedger(ledger),
  };
}

function assertSame(actual: ExpectedStatus, expected: ExpectedStatus): void {
  for (const field of Object.keys(expected) as (keyof ExpectedStatus)[])
    if (!isDeepStrictEqual(actual[field], expected[field]))
      throw new Error(
        `${field}: the status says ${JSON.stringify(actual[field])}, true is ${JSON.stringify(expected[field])}`,
      );
}

/** Degraded has to name everything that is not as declared, and nothing else. */
function assertTrueTroubles(facts: Facts, mesh: MeshFacts, said: Said | undefined): void {
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
