// The operator's connections in a process of their own; see many-clusters.ts.
import { connectionId as brand } from "../src/core/ids.ts";
import { connectionId } from "../src/kube/connection-config.ts";
import { createClient } from "../src/kube/http-client.ts";
import { parseKubeconfig } from "../src/kube/kubeconfig.ts";
import { Connection } from "../src/registry/connection.ts";
import { systemClock } from "../src/runtime/clock.ts";
import { silentLogger } from "../src/runtime/log.ts";
import type { ManyClustersRun } from "./many-clusters.ts";
import { measureManyClusters } from "./many-clusters-run.ts";

async function connect(kubeconfig: string): Promise<Connection> {
  const reading = parseKubeconfig(kubeconfig, { allow: new Set(["loopback"]) });
  if (!reading.ok) throw new Error("the bench server's kubeconfig is refused");
  const id = brand(connectionId(reading.connection).slice(0, 16));
  const client = createClient(reading.connection, { cluster: id });
  const known = Promise.withResolvers<void>();
  const connection = new Connection({
    id,
    client,
    clock: systemClock,
    log: silentLogger,
    config: reading.connection,
    onChange: (change) => {
      if (change === "knowledge" && isKnown(connection)) known.resolve();
    },
  });
  connection.start();
  await known.promise;
  return connection;
}

function isKnown(connection: Connection): boolean {
  const { nodes, peers } = connection.view();
  return nodes.state === "known" && peers.state === "known";
}

async function run({ kubeconfigs, nodes, peers }: ManyClustersRun): Promise<void> {
  await measureManyClusters(async () => {
    const connections = await Promise.all(kubeconfigs.map(connect));
    for (const connection of connections) {
      const view = connection.view();
      const complete = view.nodes.state === "known" && view.nodes.items.length === nodes;
      if (!complete || view.peers.state !== "known" || view.peers.items.length !== peers)
        throw new Error("a cluster is not known completely");
    }
  });
}

await run(JSON.parse(process.argv[2] ?? "{}") as ManyClustersRun);
