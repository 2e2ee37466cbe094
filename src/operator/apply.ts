import { peers, renderPeer } from "../api/kilo-peer.ts";
import type { PeerChange } from "../core/diff.ts";
import { isKubeError } from "../kube/errors.ts";
import type { Connection } from "../registry/connection.ts";
import type { Clock } from "../runtime/clock.ts";
import { mapLimited } from "../runtime/limit.ts";
import type { Logger } from "../runtime/log.ts";
import { refusalOf } from "./gate.ts";

export interface ApplyOptions {
  readonly connection: Connection;
  readonly instance: string;
  readonly clock: Clock;
  readonly log: Logger;
}

const writesAtOnce = 8;
const writeDeadlineMs = 5000;
/** Two device resets within milliseconds can cost a session seconds; Kilo gets this long to digest a phase. */
const betweenPhasesMs = 200;

/** Writes phase after phase. A failed write does not stop the others; what failed is returned in our words. */
export async function applyChanges(
  phases: readonly (readonly PeerChange[])[],
  options: ApplyOptions,
): Promise<readonly string[]> {
  const failures: string[] = [];
  for (const [index, phase] of phases.entries()) {
    if (index > 0) await options.clock.sleep(betweenPhasesMs);
    const results = await mapLimited(phase, writesAtOnce, (change) => attempt(change, options));
    failures.push(...results.flatMap((failure) => failure ?? []));
  }
  return failures;
}

/** The one door through which Peers are written. */
async function attempt(change: PeerChange, options: ApplyOptions): Promise<string | undefined> {
  const peer = change.action === "delete" ? change.held.name : change.peer.name;
  const fields = { connection: options.connection.id, peer, action: change.action };
  try {
    await write(change, options);
    options.log.info("peer written", fields);
    return undefined;
  } catch (error) {
    const refusal = refusalOf(error);
    options.log.warn("peer not written", { ...fields, refusal });
    return `${change.action} ${peer}: ${refusal}`;
  }
}

async function write(change: PeerChange, { connection, instance }: ApplyOptions): Promise<void> {
  const { client } = connection;
  const call = { deadlineMs: writeDeadlineMs };
  switch (change.action) {
    case "create":
      return connection.learnPeer(await client.create(peers, renderPeer(change.peer, instance), call));
    case "update": {
      const before = connection.peer(change.held.name);
      return connection.learnPeer(await client.replace(peers, renderPeer(change.peer, instance, before), call));
    }
    case "delete":
      return remove(connection, change.held.name);
  }
}

/** Only the very object that was judged: somebody may have put another one in its place. */
async function remove(connection: Connection, name: string): Promise<void> {
  const { uid, resourceVersion } = connection.peer(name)?.metadata ?? {};
  const conditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
  try {
    await connection.client.delete(peers, { name }, { deadlineMs: writeDeadlineMs, ...conditions });
  } catch (error) {
    if (!isKubeError(error, "not-found")) throw error;
  }
  connection.learnPeerDeleted({ name });
}
