import type { ConnectionId } from "../core/ids.ts";
import { abandoned, leavingLimitMs, mayClose, partingOf } from "../core/leave.ts";
import type { SourceId } from "../core/source.ts";
import type { World } from "../core/world.ts";
import type { Registry } from "../registry/registry.ts";
import type { Parting } from "../registry/rotations.ts";
import { done, type Outcome, waiting } from "../runtime/outcome.ts";

export interface LeavePorts {
  readonly observe: () => World | undefined;
  readonly registry: Pick<Registry, "leavingMs" | "close">;
  /** Told what was known of its cluster, and who may have Peers left in it. */
  readonly closed: (id: ConnectionId, parting: Parting | undefined, left: readonly SourceId[]) => void;
}

/** After a run of a target: one that no mesh asks for any more is closed when there is nothing left to do in it. */
export async function leaveCluster(target: ConnectionId, outcome: Outcome, ports: LeavePorts): Promise<Outcome> {
  const leavingMs = ports.registry.leavingMs(target);
  if (leavingMs === undefined) return outcome;
  const world = ports.observe();
  if (world && mayClose(world, target, leavingMs)) {
    await ports.registry.close(target);
    ports.closed(target, partingOf(world, target), abandoned(world, target));
    return done;
  }
  return outcome.kind === "done" ? waiting("leaving", leavingLimitMs - leavingMs) : outcome;
}
