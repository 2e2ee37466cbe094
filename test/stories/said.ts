import { deepEqual } from "node:assert/strict";
import type { ClusterMeshStatus } from "../../src/api/schema.ts";
import { ledgerOf, sortedLedger } from "./expected-status.ts";
import type { MeshFacts } from "./facts.ts";
import type { Stage } from "./stage.ts";

/** What a condition has to say; its message at least this. */
export interface Saying {
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message?: string;
}

/** By type. */
export type Sayings = Readonly<Record<string, Saying>>;

/** Resolves when the conditions of a mesh say so much at once, all of them of its present generation. */
export async function untilSaid(stage: Stage, mesh: MeshFacts, sayings: Sayings): Promise<void> {
  await stage.eventually(async () => {
    const { metadata, status = {} } = await stage.mesh(mesh);
    for (const [type, saying] of Object.entries(sayings)) assertSaid(type, saying, status);
    for (const { type, observedGeneration } of [{ type: "status", ...status }, ...(status.conditions ?? [])])
      if (observedGeneration !== metadata.generation) throw new Error(`${type} is of an earlier generation`);
  });
}

function assertSaid(type: string, { status, reason, message = "" }: Saying, { conditions }: ClusterMeshStatus): void {
  const said = conditions?.find((condition) => condition.type === type);
  if (said?.status !== status || said.reason !== reason || !said.message.includes(message))
    throw new Error(`${type} is ${said?.status}, ${said?.reason}: ${said?.message}`);
}

/** Resolves when the Ready condition of a mesh says so much, and the mesh is accepted nevertheless. */
export function untilReady(stage: Stage, mesh: MeshFacts, said: Omit<Saying, "status">): Promise<void> {
  return untilSaid(stage, mesh, { Accepted: { status: "True", reason: "Valid" }, Ready: { status: "False", ...said } });
}

/**
 * Resolves when the mesh says that this cluster is unknown and why. `person` tells whether somebody has to do something:
 * what passes by itself is no degradation.
 */
export async function untilUnknown(
  stage: Stage,
  mesh: MeshFacts,
  { cluster, reason, person }: { readonly cluster: string; readonly reason: string; readonly person: boolean },
): Promise<void> {
  await untilSaid(stage, mesh, {
    Accepted: { status: "True", reason: "Valid" },
    Ready: { status: "False", reason: "ClustersUnknown", message: `${cluster}: ${reason}` },
    Degraded: person
      ? { status: "True", reason: "ClustersUnknown", message: `${cluster}, ${reason}` }
      : { status: "False", reason: "AsDeclared" },
    WithdrawalHeld: { status: "False", reason: "NothingHeld" },
  });
  const { status } = await stage.mesh(mesh);
  const row = status?.clusters?.find(({ name }) => name === cluster);
  deepEqual([row?.state, row?.reason], ["Unknown", reason]);
  const all = status?.clusters?.length ?? 0;
  deepEqual(status?.summary?.clusters, `${all - 1}/${all}`);
  await expectLedger(stage, mesh);
}

/** Resolves when the mesh says that this node alone of its cluster is not peered, and why. */
export async function untilSkipped(
  stage: Stage,
  mesh: MeshFacts,
  { cluster, node, reason }: { readonly cluster: string; readonly node: string; readonly reason: string },
): Promise<void> {
  await stage.eventually(async () => {
    const { status } = await stage.mesh(mesh);
    const row = status?.clusters?.find(({ name }) => name === cluster);
    const why = [{ reason, count: 1, examples: [node] }];
    deepEqual([row?.state, row?.skippedNodes, row?.skipped], ["Known", 1, why]);
    deepEqual(status?.summary?.skipped, 1);
  });
}

/** Throws unless the ledger names exactly the clusters of this mesh: those that may hold Peers of it. */
export async function expectLedger(stage: Stage, mesh: MeshFacts): Promise<void> {
  const { status } = await stage.mesh(mesh);
  deepEqual(sortedLedger(status?.ledger ?? []), ledgerOf(mesh));
}
