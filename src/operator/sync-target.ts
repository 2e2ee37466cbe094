import { diffPeers, type PeerChange } from "../core/diff.ts";
import type { ConnectionId } from "../core/ids.ts";
import { orderChanges } from "../core/order.ts";
import type { HeldPeer } from "../core/peer.ts";
import { type KnownPlan, planTarget } from "../core/plan.ts";
import type { TargetReport } from "../core/status.ts";
import type { World } from "../core/world.ts";
import { done, failed, type Outcome, waiting } from "../runtime/outcome.ts";

export interface SyncPorts {
  /** The world at this moment, from memory; undefined before the list of meshes is known. */
  readonly observe: () => World | undefined;
  /** Writes the phases one after the other and returns what failed, in our words. */
  readonly apply: (target: ConnectionId, phases: readonly (readonly PeerChange[])[]) => Promise<readonly string[]>;
  readonly record: (target: ConnectionId, report: TargetReport) => void;
  /** Asks a cluster for the list that can prove what is held back. */
  readonly prove: (source: ConnectionId) => void;
}

const lookAgainMs = 30_000;

/** Makes one target hold what the plan says. Everything up to the first write happens in one tick. */
export async function syncTarget(target: ConnectionId, ports: SyncPorts): Promise<Outcome> {
  const world = ports.observe();
  if (!world) return waiting("meshes unknown", lookAgainMs);
  const plan = planTarget(world, target);
  if (plan.state === "unknown") {
    ports.record(target, { plan, failures: [] });
    return waiting("target unknown", lookAgainMs);
  }
  const changes = diffPeers(plan, oursIn(world, target));
  const failures = await ports.apply(target, orderChanges(changes));
  ports.record(target, { plan, failures });
  for (const { proof } of plan.kept) if (proof) ports.prove(proof);
  return outcomeOf(plan, failures);
}

function oursIn(world: World, target: ConnectionId): HeldPeer[] {
  const held = world.clusters.get(target)?.peers;
  return held?.state === "known" ? held.items.filter(({ instance }) => instance === world.instance) : [];
}

function outcomeOf(plan: KnownPlan, failures: readonly string[]): Outcome {
  const [first] = failures;
  if (first !== undefined) return failed(new Error(`${failures.length} writes failed, first: ${first}`));
  const waits = plan.kept.flatMap(({ afterMs }) => afterMs ?? []);
  return waits.length > 0 ? waiting("withdrawal held", Math.min(...waits)) : done;
}
