import { customResourceDefinitions } from "../../src/api/crd.ts";
import { createClient } from "../../src/kube/http-client.ts";
import { namespaces } from "../../src/kube/resource.ts";
import { peerCrd } from "../../src/sandbox/kilo/peer-crd.ts";
import { type Sandbox, type SandboxCluster, startSandbox } from "../../src/sandbox/sandbox.ts";
import { configOf } from "../support/run-operator.ts";
import { clusterNameOf, homeNamespace, type Letter, letters, otherNamespace } from "./facts.ts";
import { type Arena, operatorAgent, type Ring, type RingCluster, type StoryRequest } from "./ring.ts";

/** Embedded clusters: new ones for every story. Thirty seconds of grace take half a second. */
export const sandboxRing: Ring = {
  name: "sandbox",
  clockFactor: 60,
  boundsTimes: false,
  parallel: 6,
  open: openArena,
  stop: async () => undefined,
};

async function openArena(): Promise<Arena> {
  const sandbox = await startSandbox({ clusters: letters.map(clusterNameOf) });
  for (const { store } of sandbox.clusters) {
    for (const name of [homeNamespace, otherNamespace]) store.create(namespaces, { metadata: { name } });
    store.create(customResourceDefinitions, peerCrd());
  }
  const [a, b, c] = [ringCluster(sandbox, "a"), ringCluster(sandbox, "b"), ringCluster(sandbox, "c")];
  const close = async (): Promise<void> => {
    for (const { admin } of [a, b, c]) admin.close();
    await sandbox.stop();
  };
  return { clusters: { a, b, c }, close };
}

function ringCluster(sandbox: Sandbox, letter: Letter): RingCluster {
  const cluster = sandbox.cluster(clusterNameOf(letter));
  let credentials = 0;
  return {
    letter,
    url: cluster.url,
    admin: createClient(configOf(cluster.kubeconfig()), { cluster: cluster.name, userAgent: "story-admin" }),
    operatorKubeconfig: async () => cluster.kubeconfig(),
    credential: async () => {
      const token = `credential-${letter}-${++credentials}`;
      cluster.addToken(token);
      return { kubeconfig: cluster.kubeconfig({ token }), revoke: async () => cluster.revokeToken(token) };
    },
    takeAway: () => cluster.stopListening(),
    bringBack: () => cluster.startListening(),
    refusePeers: async (verb) => {
      const match = { verb, resource: "peers", userAgent: operatorAgent };
      const allow = cluster.faults.add({ match, do: { kind: "status", code: 403 } });
      return async () => allow();
    },
    requests: async () => requestsOf(cluster),
  };
}

function requestsOf({ requests }: SandboxCluster): StoryRequest[] {
  return requests
    .all()
    .filter(({ userAgent }) => userAgent.startsWith(operatorAgent))
    .map(({ verb, resource, subresource = "", name = "", code }) => {
      const [plural = resource] = resource.split(".");
      return { verb, resource: plural, subresource, name, code };
    });
}
