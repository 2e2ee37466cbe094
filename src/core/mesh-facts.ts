import type { ClusterName, ConnectionId } from "./ids.ts";
import type { Mesh } from "./mesh.ts";
import { onceForBoth } from "./once-per.ts";
import type { KnownPlan } from "./plan.ts";
import { leadsTo } from "./source.ts";
import type { ClusterStatus, MeshStatusInput, Refusal, TargetReport } from "./status.ts";

/** Everything that the conditions of one mesh are judged by. */
export interface MeshFacts {
  readonly input: MeshStatusInput;
  readonly clusters: readonly ClusterStatus[];
  readonly targets: readonly Target[];
}

/** A cluster of the mesh under its first name in it. */
export interface Target {
  readonly name: ClusterName;
  readonly report: TargetReport | undefined;
}

export function meshFacts(input: MeshStatusInput, clusters: readonly ClusterStatus[]): MeshFacts {
  const names = new Map<ConnectionId, ClusterName>();
  for (const [name, connection] of input.connected.connections)
    if (connection.state === "connected" && !names.has(connection.id)) names.set(connection.id, name);
  const targets = [...names].map(([id, name]): Target => ({ name, report: input.reports.get(id) }));
  return { input, clusters, targets };
}

/** Names of Peers of this mesh in such a list of a plan, with their target. */
export function listed({ input, targets }: MeshFacts, list: "taken" | "rivalled" | "unresolved"): string[] {
  const { id } = input.connected.mesh;
  return inEach(targets, ({ plan }) =>
    plan.state === "known" ? plan[list].filter(({ owners }) => owners.includes(id)).map(({ name }) => name) : [],
  );
}

/** Writes for this mesh that did not happen: a target is shared, its Peers are not. */
export function refused({ input, targets }: MeshFacts, isMeant: (refusal: Refusal) => boolean): string[] {
  const { id } = input.connected.mesh;
  return inEach(targets, ({ refusals }) =>
    refusals.filter((refusal) => refusal.owners.includes(id) && isMeant(refusal)).map(({ text }) => text),
  );
}

/** Routes that nodes of this mesh want and somebody else has. */
export function claimsHeld({ input, targets }: MeshFacts): string[] {
  const { mesh } = input.connected;
  return inEach(targets, ({ plan }) =>
    plan.state === "known" && plan.refused.length > 0 ? refusedClaims(mesh, plan) : [],
  );
}

const refusedClaims = onceForBoth(({ id }: Mesh, { refused, peers }: KnownPlan): readonly string[] => {
  const keys = new Set<string>(refused.map(({ claim }) => claim.peer));
  const wanted = peers.filter(({ publicKey, owners }) => keys.has(publicKey) && owners.includes(id));
  const nodes = new Map<string, string>(wanted.map(({ publicKey, node }) => [publicKey, node]));
  return refused.flatMap(({ claim }) => {
    const node = nodes.get(claim.peer);
    return node ? [`${claim.route.text} of ${node}`] : [];
  });
});

/** Peers of this mesh that would go if it were proven that nobody wants them. */
export function withdrawalsHeld({ input, targets }: MeshFacts): string[] {
  const { id } = input.connected.mesh;
  return inEach(targets, ({ plan }) => {
    if (plan.state !== "known") return [];
    const kept = plan.kept.filter(({ held, reason }) => reason === "WithdrawalHeld" && held.owners.includes(id));
    return kept.map(({ held }) => held.name);
  });
}

/** Known clusters that have nodes of which none is peered, under no entry that leads there. */
export function unserved({ input, clusters }: MeshFacts): ClusterStatus[] {
  const idOf = ({ name }: ClusterStatus): string => leadsTo(input.connected, name) ?? name;
  const isBare = ({ state, nodes, skippedNodes }: ClusterStatus): boolean =>
    state === "Known" && nodes > 0 && skippedNodes >= nodes;
  const served = new Set(clusters.filter((cluster) => !isBare(cluster)).map(idOf));
  return clusters.filter((cluster) => isBare(cluster) && !served.has(idOf(cluster)));
}

function inEach(targets: readonly Target[], find: (report: TargetReport) => readonly string[]): string[] {
  return targets.flatMap(({ name, report }) => (report ? find(report).map((text) => `${name}: ${text}`) : []));
}
