import { nodes } from "../api/kilo-node.ts";
import { annotations, nodeAnnotations } from "../api/names.ts";
import type { ConnectionId } from "../core/ids.ts";
import { type KeepaliveChange, keepaliveChanges, keepaliveMark } from "../core/node-keepalive.ts";
import type { World } from "../core/world.ts";
import type { KubeClient } from "../kube/client.ts";
import { isKubeError } from "../kube/errors.ts";
import type { Connection } from "../registry/connection.ts";
import type { Logger } from "../runtime/log.ts";
import { done, failed, type Outcome, waiting } from "../runtime/outcome.ts";
import { refusalOf } from "./gate.ts";

export interface AnnotatePorts {
  readonly observe: () => World | undefined;
  readonly connection: (cluster: ConnectionId) => NodeAccess | undefined;
  /** What the operator's owner asks of every mesh. */
  readonly flagSeconds: number;
  /** What a person may run there because we may not; undefined when there is nothing to run. */
  readonly tell: (cluster: ConnectionId, command: string | undefined) => void;
  readonly log: Logger;
}

export interface NodeAccess extends Pick<Connection, "nodeVersion"> {
  readonly client: Pick<KubeClient, "patch">;
}

/** One node after the other: each change makes its Kilo reconfigure the device. */
const betweenNodesMs = 1000;
const afterRefusalMs = 600_000;
const deadlineMs = 5000;

/** One cluster → Kilo's keepalive on its nodes. Without the right to patch nodes it says what a person may do instead. */
export async function annotateNodes(cluster: ConnectionId, ports: AnnotatePorts): Promise<Outcome> {
  const world = ports.observe();
  const connection = ports.connection(cluster);
  if (!connection || world?.clusters.get(cluster)?.nodes.state !== "known") return done;
  const changes = keepaliveChanges(world, cluster, ports.flagSeconds);
  const [change] = changes;
  if (!change) {
    ports.tell(cluster, undefined);
    return done;
  }
  try {
    await patchNode(connection, change, world.instance);
  } catch (error) {
    if (isKubeError(error, "conflict")) return waiting("the node changed meanwhile", betweenNodesMs);
    if (!isKubeError(error, "forbidden")) return failed(new Error(`annotate ${change.node}: ${refusalOf(error)}`));
    const command = commandFor(changes);
    ports.log.warn("keepalive not set on nodes", { connection: cluster, nodes: changes.length, command });
    ports.tell(cluster, command);
    return waiting("no right to patch nodes", afterRefusalMs);
  }
  ports.tell(cluster, undefined);
  ports.log.info("keepalive set on node", { connection: cluster, node: change.node, seconds: change.seconds ?? 0 });
  return changes.length > 1 ? waiting("next node", betweenNodesMs) : done;
}

/** Of the very version that was judged: a value that a person has put there since stays. */
async function patchNode(connection: NodeAccess, { node, seconds }: KeepaliveChange, instance: string): Promise<void> {
  const value = seconds === undefined ? null : String(seconds);
  const mark = value && keepaliveMark(instance, value);
  const metadata = {
    resourceVersion: connection.nodeVersion(node),
    annotations: { [nodeAnnotations.keepalive]: value, [annotations.keepaliveMark]: mark },
  };
  await connection.client.patch(nodes, { name: node }, { body: { metadata }, deadlineMs });
}

/** For all nodes in one line, whatever their number: without `--overwrite` it leaves every value alone that is there. */
function commandFor(changes: readonly KeepaliveChange[]): string | undefined {
  const missing = changes.find(({ isSet }) => !isSet);
  return missing && `kubectl annotate nodes --all ${nodeAnnotations.keepalive}=${missing.seconds}`;
}
