import { type NodeObject, nodes, readNode } from "../../src/api/kilo-node.ts";
import { type NodeRecord, sameNodeRecord } from "../../src/core/node.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import { createClient } from "../../src/kube/http-client.ts";
import { Informer } from "../../src/kube/informer.ts";
import { parseKubeconfig } from "../../src/kube/kubeconfig.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { silentLogger } from "../../src/runtime/log.ts";
import type { RealCluster } from "../control-plane/real-cluster.ts";

export const agent = "kube-under-test";

/** Our client on a real API server, as its administrator. */
export function clientFor(cluster: RealCluster): KubeClient {
  const reading = parseKubeconfig(cluster.adminKubeconfig, { allow: new Set(["loopback"]) });
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  return createClient(reading.connection, { cluster: cluster.name, userAgent: agent });
}

export function nodeInformer(client: KubeClient): Informer<NodeObject, NodeRecord> {
  return new Informer({
    client,
    resource: nodes,
    decode: readNode,
    same: sameNodeRecord,
    clock: systemClock,
    log: silentLogger,
  });
}

export async function known(informer: Informer<NodeObject, NodeRecord>): Promise<void> {
  if (informer.knowledge.state === "known") return;
  await new Promise<void>((resolve) => {
    const forget = informer.onKnowledge(({ state }) => {
      if (state !== "known") return;
      forget();
      resolve();
    });
  });
}
