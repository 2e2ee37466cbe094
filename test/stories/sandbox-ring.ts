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
    credential: async ({ isEnding = false } = {}) => {
      const name = `credential-${letter}-${++credentials}`;
      const now = Date.now();
      const token = isEnding ? tokenEndedAt(now, name) : name;
      cluster.addToken(token, isEnding ? { until: new Date(now + acceptedForMs) } : {});
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

/** After its end, where a real API server allows a minute. */
const acceptedForMs = 4000;

/** A JSON Web Token that nobody has signed. */
function tokenEndedAt(atMs: number, name: string): string {
  const exp = Math.floor(atMs / 1000);
  const parts = [{ alg: "none" }, { sub: name, iat: exp - 3600, exp }];
  const texts = parts.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"));
  return `${texts.join(".")}.`;
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
