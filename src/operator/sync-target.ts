import { diffPeers, type PeerChange } from "../core/diff.ts";
import type { ConnectionId } from "../core/ids.ts";
import { leastOf } from "../core/many.ts";
import { nextPhase } from "../core/order.ts";
import { permitted } from "../core/permitted.ts";
import { type KnownPlan, planTarget } from "../core/plan.ts";
import type { Recall } from "../core/recall.ts";
import type { Refusal, TargetReport } from "../core/status.ts";
import type { World } from "../core/world.ts";
import { done, failed, type Outcome, waiting } from "../runtime/outcome.ts";

export interface SyncPorts {
  /** The world at this moment, from memory; undefined while this target may not be planned. */
  readonly observe: () => World | undefined;
  /** What the plans of this target leave to the next one. */
  readonly recall: Recall;
  /** Writes the changes and returns what was refused, in our words. */
  readonly apply: (target: ConnectionId, changes: readonly PeerChange[]) => Promise<readonly Refusal[]>;
  /** Says what is about to be written. */
  readonly announce: (target: ConnectionId, report: Omit<TargetReport, "refusals">) => void;
  readonly record: (target: ConnectionId, report: TargetReport) => void;
  /** Has another target planned: it speaks for the same cluster. */
  readonly wake: (target: ConnectionId) => void;
  /** Has the names that the plan uses resolved, and kept up to date. */
  readonly resolve: (names: readonly string[]) => void;
  /** Asks for the second list of the meshes, after which Peers that no mesh explains may go. */
  readonly proveGhosts: () => void;
  /** Asks a cluster for the list that can prove what is held back. */
  readonly prove: (source: ConnectionId) => void;
}

const lookAgainMs = 30_000;
/**
 * Two device resets within milliseconds can cost a session seconds; Kilo gets this long to digest what we wrote before we
 * look at it again.
 */
export const digestMs = 200;

/**
 * Brings one target a phase nearer to what the plan says. Everything up to the first write happens in one tick, and
 * what follows a phase is planned anew: late writes never act on an old view.
 */
export async function syncTarget(target: ConnectionId, ports: SyncPorts): Promise<Outcome> {
  const world = ports.observe();
  if (!world) return waiting("not to be planned yet", lookAgainMs);
  const speaker = world.twins.get(target);
  if (speaker) {
    ports.wake(speaker);
    return done;
  }
  const plan = planTarget(world, target, ports.recall);
  if (plan.state === "unknown") {
    ports.record(target, { spec: world.spec, plan, refusals: [], pending: 0 });
    return waiting("target unknown", lookAgainMs);
  }
  const changes = permitted(world, plan, diffPeers(plan));
  const ready = changes.filter((change) => isLedgered(world, target, change));
  const phase = nextPhase(ready);
  const report = { spec: world.spec, plan, pending: changes.length };
  ports.announce(target, report);
  const refusals = await ports.apply(target, phase);
  ports.record(target, { ...report, refusals, pending: changes.length - phase.length });
  for (const { proof } of plan.kept) if (proof) ports.prove(proof);
  ports.resolve(plan.names);
  if (plan.ghosts > 0 && !world.ghostsMayGo) ports.proveGhosts();
  return outcomeOf(plan, refusals, ready.length - phase.length);
}

/** The ledger names a cluster before the first Peer of a mesh goes there. */
function isLedgered({ meshes }: World, target: ConnectionId, change: PeerChange): boolean {
  if (change.action !== "create") return true;
  const owners = meshes.filter(({ mesh }) => change.peer.owners.includes(mesh.id));
  return owners.every(({ ledger }) => ledger.has(target));
}

function outcomeOf({ kept, afterMs }: KnownPlan, refusals: readonly Refusal[], pending: number): Outcome {
  const [first] = refusals;
  if (first) return failed(new Error(`${refusals.length} writes refused, first: ${first.text}`));
  if (pending > 0) return waiting("next phase", digestMs);
  if (kept.length === 0) return afterMs === undefined ? done : waiting("endpoint on its way", afterMs);
  const waitsMs = [...kept.map((peer) => peer.afterMs ?? lookAgainMs), afterMs ?? Number.POSITIVE_INFINITY];
  return waiting("withdrawal held", leastOf(waitsMs));
}
