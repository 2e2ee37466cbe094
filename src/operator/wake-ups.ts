import { isMeshEdit, isTriggered, type MeshRecord } from "../api/cluster-mesh.ts";
import type { ConnectionId, MeshId } from "../core/ids.ts";
import type { Change } from "../kube/informer.ts";
import type { ClusterChange } from "../registry/connection.ts";
import type { Clock } from "../runtime/clock.ts";
import { WorkQueue } from "../runtime/queue.ts";
import { secretsBehind } from "./connect-clusters.ts";
import type { Memory } from "./memory.ts";
import type { Reactions } from "./reactions.ts";
import { digestMs } from "./sync-target.ts";

export interface WakeUpPorts {
  readonly clock: Clock;
  readonly memory: Memory;
  readonly reactions: Reactions;
}

/**
 * Changes of one target within this time become one burst: every burst makes Kilo replace all peers of a device. What comes
 * in one piece of a stream is told in one turn; this is for what several streams bring at once, and every change waits for it.
 */
const coalesceMs = 2;
const writeBackoff = { firstMs: 200, maxMs: 60_000 };

/** The queues of the four controllers, and what each change adds to them. */
export class WakeUps {
  readonly connects: WorkQueue<"clusters">;
  readonly targets: WorkQueue<ConnectionId>;
  readonly nodes: WorkQueue<ConnectionId>;
  readonly statuses: WorkQueue<MeshId>;
  readonly #memory: Memory;
  readonly #reactions: Reactions;

  constructor({ clock, memory, reactions }: WakeUpPorts) {
    this.#memory = memory;
    this.#reactions = reactions;
    this.connects = new WorkQueue({ clock, parallel: 1 });
    this.targets = new WorkQueue({ clock, parallel: 16, coalesceMs, backoff: writeBackoff });
    this.nodes = new WorkQueue({ clock, parallel: 4, coalesceMs: 1000 });
    this.statuses = new WorkQueue({ clock, parallel: 4, coalesceMs: 200 });
  }

  wakeTargets(ids: Iterable<ConnectionId> = this.#memory.registry.ids()): void {
    for (const id of ids) {
      this.targets.add(id);
      this.nodes.add(id);
    }
  }

  wakeMeshesOf(id: ConnectionId): void {
    for (const mesh of this.#memory.meshesOf(id)) this.statuses.add(mesh);
  }

  meshChanged({ key, before, after }: Change<MeshRecord>): void {
    if (isMeshEdit(before, after)) this.connects.add("clusters");
    if (after && isTriggered(before, after)) this.#lookAgain(after);
    // Its first Peer waits for the ledger.
    if (after && !before) this.statuses.addAfter(key as MeshId, 0);
    else if (after) this.statuses.add(key as MeshId);
  }

  /** The one place where a change in one cluster becomes work. */
  clusterChanged(id: ConnectionId, change: ClusterChange): void {
    const isOfNode = change === "node" || change === "ground";
    if (isOfNode || change === "knowledge") this.#wakeOthers(id, isOfNode);
    if (change === "ground") this.#reactions.changed(id);
    if (change !== "node") this.targets.addAfter(id, change === "written" ? digestMs : coalesceMs);
    if (change !== "knowledge") return;
    this.wakeMeshesOf(id);
    if (this.#memory.rotations.isWaiting) this.connects.add("clusters");
  }

  #wakeOthers(id: ConnectionId, isOfNode: boolean): void {
    for (const target of this.#memory.receiversOf(id)) {
      if (isOfNode) this.#reactions.changed(target);
      this.targets.add(target);
    }
    this.nodes.add(id);
  }

  /**
   * Somebody asks for a fresh look: the mesh's Secrets and clusters are tried and listed now, and planned anew. Those of
   * other meshes are not: whoever may write one mesh must not cost all of them.
   */
  #lookAgain(record: MeshRecord): void {
    const ids = this.#memory.connectionsOf(record.id);
    this.#memory.secrets.relist(secretsBehind(record));
    this.#memory.registry.relist(ids);
    this.wakeTargets(ids);
  }
}
