import { expect, it } from "vitest";
import { clusterMeshes } from "../src/api/cluster-mesh.ts";
import { clusterMeshCrd, customResourceDefinitions } from "../src/api/crd.ts";
import { demoMesh, demoSummary, prepareDemo } from "../src/cli/demo-mesh.ts";
import type { KubeClient } from "../src/kube/client.ts";
import type { ConnectionConfig } from "../src/kube/connection-config.ts";
import { createClient } from "../src/kube/http-client.ts";
import { defaultConfig } from "../src/operator/config.ts";
import { runOperator } from "../src/operator/run-operator.ts";
import { systemClock } from "../src/runtime/clock.ts";
import { silentLogger } from "../src/runtime/log.ts";
import { startFleet } from "../src/sandbox/fleet.ts";
import { eventually } from "./support/eventually.ts";
import { configOf } from "./support/run-operator.ts";

/** How many clients are open, and what is watched over each of those to the local cluster. */
class Clients {
  readonly watched: Set<string>[] = [];
  open = 0;

  readonly connect = (cluster: string, config: ConnectionConfig): KubeClient => {
    const client = createClient(config, { cluster });
    const watched = new Set<string>();
    if (cluster === "local") this.watched.push(watched);
    this.open++;
    return {
      ...client,
      watch: (resource, options) => {
        watched.add(resource.plural);
        return client.watch(resource, options);
      },
      close: () => {
        this.open--;
        client.close();
      },
    };
  };
}

it("Secrets take no stream from the Lease and the meshes, however many of them meshes name", async () => {
  const { sandbox, stop } = await startFleet({ clusters: 2, nodes: 1, clock: systemClock });
  prepareDemo(sandbox);
  const [home] = sandbox.clusters;
  if (!home) throw new Error("unreachable");
  const clients = new Clients();
  const localConfig = configOf(home.kubeconfig());
  const client = clients.connect("local", localConfig);
  const ending = new AbortController();
  const ports = { client, localConfig, connect: clients.connect, clock: systemClock, log: silentLogger };
  const running = runOperator({ ...defaultConfig, allow: new Set(["loopback"]) }, ports, ending.signal);
  await eventually(() => home.store.get(customResourceDefinitions, { name: clusterMeshCrd().metadata.name }));
  home.store.create(clusterMeshes, demoMesh(sandbox));
  await eventually(() => expect(demoSummary(sandbox).ready).toBe(true));
  ending.abort();
  await running;
  client.close();
  await stop();
  expect(clients.watched).toEqual([new Set(["clustermeshes", "nodes", "peers"]), new Set(["secrets"])]);
  expect(clients.open).toBe(0);
});
