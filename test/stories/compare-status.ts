import { isDeepStrictEqual } from "node:util";
import type { ClusterMeshObject } from "../../src/api/cluster-mesh.ts";
import { nodesOf } from "./expected-peers.ts";
import { type Facts, type MeshFacts, meshIdOf } from "./facts.ts";

/** Throws unless the mesh says what is true of a mesh in which everything is in order. */
export function assertTrueStatus(facts: Facts, mesh: MeshFacts, { metadata, status }: ClusterMeshObject): void {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  if (ready?.status !== "True") throw new Error(`${meshIdOf(mesh)} is not ready: ${ready?.reason}: ${ready?.message}`);
  for (const { type, observedGeneration } of status?.conditions ?? []) {
    if (observedGeneration !== metadata.generation) throw new Error(`${type} is of an earlier generation`);
  }
  const actual = (status?.clusters ?? []).map(({ name, state, nodes, registeredPeers, skippedNodes }) => ({
    name,
    state,
    nodes,
    registeredPeers,
    skippedNodes,
  }));
  const expected = mesh.entries.map((entry) => {
    const nodes = facts.nodes.filter(({ cluster }) => cluster === entry.cluster).length;
    const peered = nodesOf(facts, entry).length;
    const known = { name: entry.name, state: "Known", nodes };
    return { ...known, registeredPeers: peered, skippedNodes: nodes - peered };
  });
  if (!isDeepStrictEqual(actual, expected))
    throw new Error(`the status says ${JSON.stringify(actual)}, true is ${JSON.stringify(expected)}`);
}
