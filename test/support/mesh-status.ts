import type { ConnectionId } from "../../src/core/ids.ts";
import type { Mesh } from "../../src/core/mesh.ts";
import { planTarget } from "../../src/core/plan.ts";
import { type MeshStatus, type MeshStatusInput, meshStatus, type TargetReport } from "../../src/core/status.ts";
import type { ClusterView, ConnectedMesh, World } from "../../src/core/world.ts";
import { aWorld, heldAs, known } from "./build.ts";

export interface SettledParts {
  readonly meshes: readonly Mesh[];
  /** In the order of the clusters' numbers; their Peers are filled in unless they are unknown. */
  readonly views: readonly ClusterView[];
  /** Where the entries of the meshes lead, if not to the clusters of their numbers. */
  readonly connected?: readonly ConnectedMesh[];
  readonly overrides?: Partial<World>;
  readonly refusals?: TargetReport["refusals"];
  readonly ledger?: MeshStatusInput["ledger"];
  readonly nowMs?: number;
  readonly nodeCommands?: ReadonlyMap<ConnectionId, string>;
}

/** The status of the first mesh when every cluster holds what it should, and the last run of each is reported. */
export function settledStatus(parts: SettledParts): MeshStatus {
  const world = settledWorld(parts);
  const { refusals = [], ledger = [], nowMs = 0, nodeCommands = new Map() } = parts;
  const reports = [...world.clusters.keys()].map((id) => {
    const report: TargetReport = { spec: world.spec, plan: planTarget(world, id), refusals, pending: 0 };
    return [id, report] as const;
  });
  const [connected] = world.meshes;
  if (!connected) throw new Error("no mesh");
  return meshStatus({ world, connected, reports: new Map(reports), ledger, nowMs, nodeCommands });
}

function settledWorld({ meshes, views, connected, overrides }: SettledParts): World {
  const more = { ...overrides, ...(connected && { meshes: connected }) };
  const bare = aWorld({ meshes, views, overrides: more });
  const filled = [...bare.clusters].map(([id, view]): ClusterView => {
    const plan = planTarget(bare, id);
    return plan.state === "known" ? { ...view, peers: known(plan.peers.map((peer) => heldAs(peer))) } : view;
  });
  return aWorld({ meshes, views: filled, overrides: more });
}

export function conditionOf({ conditions }: MeshStatus, type: string) {
  const found = conditions.find((condition) => condition.type === type);
  if (!found) throw new Error(`no condition ${type}`);
  return found;
}
