import { type PeerObject, peers, renderKept, renderPeer } from "../api/kilo-peer.ts";
import type { PeerChange } from "../core/diff.ts";
import type { HeldPeer } from "../core/peer.ts";
import type { Refusal } from "../core/status.ts";
import type { KubeClient } from "../kube/client.ts";
import { isKubeError } from "../kube/errors.ts";
import type { Connection } from "../registry/connection.ts";
import { mapLimited } from "../runtime/limit.ts";
import type { Logger } from "../runtime/log.ts";
import { refusalOf } from "./gate.ts";

export interface ApplyOptions {
  readonly connection: Connection;
  readonly instance: string;
  readonly log: Logger;
}

const writesAtOnce = 8;
const call = { deadlineMs: 5000 };

/**
 * Writes the changes. A refused write does not stop the others; what was refused is returned in our words. A cluster that
 * does not answer is not tried any further: what is written late would follow from an old view.
 */
export async function applyChanges(changes: readonly PeerChange[], options: ApplyOptions): Promise<readonly Refusal[]> {
  let answers = true;
  const results = await mapLimited(changes, writesAtOnce, async (change) => {
    const result = answers ? await attempt(change, options) : notTried;
    answers = answers && !result?.isSilent;
    return result;
  });
  if (results.some((result) => result?.isTypeGone)) options.connection.relistPeers();
  return results.flatMap((result, index) => {
    const change = changes[index];
    if (!result || !change) return [];
    const { name, owners } = "peer" in change ? change.peer : change.held;
    const text = `${change.action} ${name}: ${result.word}`;
    return [{ peer: name, owners, text, ...(result.isDenied && { isDenied: true }) }];
  });
}

interface Refused {
  readonly word: string;
  /** Nothing is created where the type is not served; a list tells so, and ends the attempts. */
  readonly isTypeGone?: boolean;
  /** There was no answer at all. */
  readonly isSilent?: boolean;
  /** Trying again on a newer view will not do: the cluster does not want it, or does not answer. */
  readonly isDenied?: boolean;
}

const notTried: Refused = { word: "not tried" };

/** The one door through which Peers are written. */
async function attempt(change: PeerChange, { connection, instance, log }: ApplyOptions): Promise<Refused | undefined> {
  const peer = "peer" in change ? change.peer.name : change.held.name;
  const fields = { connection: connection.id, peer, action: change.action };
  try {
    const word = await write(change, connection, instance);
    if (word) return { word };
    log.info("peer written", fields);
    return undefined;
  } catch (error) {
    const word = refusalOf(error);
    log.warn("peer not written", { ...fields, refusal: word });
    return {
      word,
      isTypeGone: change.action === "create" && isKubeError(error, "not-found"),
      isSilent: isKubeError(error, "timeout", "unreachable"),
      isDenied: isKubeError(error) && !isKubeError(error, "conflict"),
    };
  }
}

async function write(change: PeerChange, connection: Connection, instance: string): Promise<string | undefined> {
  const { client } = connection;
  if (change.action === "create") {
    const { peer } = change;
    await connection.writePeer(peer.name, () => client.create(peers, renderPeer(peer, instance), call));
    return undefined;
  }
  const { held } = change;
  const judged = judgedObject(connection, held);
  if (!judged) return "changed meanwhile";
  if (change.action === "delete") await connection.deletePeer(held, () => remove(client, held));
  else {
    const object =
      change.action === "shrink" ? renderKept(judged, change.routes) : renderPeer(change.peer, instance, judged);
    await connection.writePeer(held.name, () => client.replace(peers, object, call));
  }
  return undefined;
}

/** The object that the plan has seen, or nothing when another one is in its place by now. */
function judgedObject(connection: Connection, { name, uid, resourceVersion }: HeldPeer): PeerObject | undefined {
  const object = connection.peer(name);
  return object?.metadata.uid === uid && object.metadata.resourceVersion === resourceVersion ? object : undefined;
}

async function remove(client: KubeClient, { name, uid, resourceVersion }: HeldPeer): Promise<void> {
  try {
    await client.delete(peers, { name }, { ...call, uid, resourceVersion });
  } catch (error) {
    if (!isKubeError(error, "not-found")) throw error;
  }
}
