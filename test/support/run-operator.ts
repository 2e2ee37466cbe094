import { clusterMeshes } from "../../src/api/cluster-mesh.ts";
import { clusterMeshCrd, customResourceDefinitions } from "../../src/api/crd.ts";
import { nodes } from "../../src/api/kilo-node.ts";
import { type PeerObject, peers } from "../../src/api/kilo-peer.ts";
import { demoMesh, demoMeshRef, prepareDemo } from "../../src/cli/demo-mesh.ts";
import { createClient } from "../../src/kube/http-client.ts";
import { parseKubeconfig } from "../../src/kube/kubeconfig.ts";
import { runOperator } from "../../src/operator/run-operator.ts";
import { silentLogger } from "../../src/runtime/log.ts";
import { type Fleet, fleetNode, startFleet } from "../../src/sandbox/fleet.ts";
import type { SandboxCluster } from "../../src/sandbox/sandbox.ts";
import { eventually } from "./eventually.ts";
import { fastClock } from "./fast-clock.ts";

export const userAgent = "operator-under-test";
/** Thirty seconds of grace take half a second. */
const clock = fastClock(60);
const allow = new Set(["loopback"] as const);

/** An operator on embedded clusters, with what a story does to them. */
export interface Stage {
  readonly fleet: Fleet;
  cluster(number: number): SandboxCluster;
  peerNames(number: number): string[];
  peer(number: number, name: string): PeerObject | undefined;
  addNode(number: number, index: number): void;
  deleteNode(number: number, index: number): void;
  readyCondition(): { readonly status: string; readonly reason: string; readonly message: string } | undefined;
  /** Resolves when each cluster holds exactly the Peers of the others' nodes and the mesh is ready. */
  synced(): Promise<void>;
  /** The operator's requests other than watches, in all clusters. */
  requests(): string[];
  restartOperator(): Promise<void>;
  stop(): Promise<void>;
}

export interface StageOptions {
  readonly clusters?: number;
  readonly nodes?: number;
}

export async function startStage({ clusters = 3, nodes: nodeCount = 2 }: StageOptions = {}): Promise<Stage> {
  const fleet = await startFleet({ clusters, nodes: nodeCount, clock });
  prepareDemo(fleet.sandbox);
  const local = fleet.sandbox.clusters[0];
  if (!local) throw new Error("a stage needs clusters");
  let operator = startOperator(local);
  const stage = createStage(fleet, local, {
    stop: () => operator.stop(),
    restart: async () => {
      await operator.stop();
      operator = startOperator(local);
    },
  });
  const { name } = clusterMeshCrd().metadata;
  await eventually(() => local.store.get(customResourceDefinitions, { name }));
  local.store.create(clusterMeshes, demoMesh(fleet.sandbox));
  return stage;
}

interface RunningOperator {
  stop(): Promise<void>;
}

function startOperator(local: SandboxCluster): RunningOperator {
  const reading = parseKubeconfig(local.kubeconfig(), { allow });
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  const client = createClient(reading.connection, { cluster: "local", userAgent });
  const ending = new AbortController();
  const connect = (cluster: string, config: typeof reading.connection) => createClient(config, { cluster, userAgent });
  const ports = { client, connect, clock, log: silentLogger };
  const running = runOperator({ instance: "", leaderElection: false, allow }, ports, ending.signal);
  const stop = async (): Promise<void> => {
    ending.abort();
    await running;
    client.close();
  };
  return { stop };
}

interface OperatorControl {
  stop(): Promise<void>;
  restart(): Promise<void>;
}

function createStage(fleet: Fleet, local: SandboxCluster, operator: OperatorControl): Stage {
  const all = fleet.sandbox.clusters;
  const cluster = (number: number): SandboxCluster => {
    const found = all[number];
    if (!found) throw new Error(`no cluster ${number}`);
    return found;
  };
  const nodeName = (number: number, index: number): string => `${cluster(number).name}-${index + 1}`;
  const peerNames = (number: number): string[] =>
    cluster(number)
      .store.list(peers)
      .map(({ metadata }) => metadata.name)
      .sort();
  const readyCondition: Stage["readyCondition"] = () =>
    local.store.find(clusterMeshes, demoMeshRef)?.status?.conditions?.find(({ type }) => type === "Ready");
  return {
    fleet,
    cluster,
    peerNames,
    readyCondition,
    peer: (number, name) => cluster(number).store.find(peers, { name }),
    addNode: (number, index) =>
      void cluster(number).store.create(nodes, fleetNode(number, index, nodeName(number, index))),
    deleteNode: (number, index) => cluster(number).store.delete(nodes, { name: nodeName(number, index) }),
    synced: () => eventually(() => assertSynced(all, readyCondition()?.status)),
    requests: () => all.flatMap(requestsOf),
    restartOperator: () => operator.restart(),
    stop: async () => {
      await operator.stop();
      await fleet.stop();
    },
  };
}

function assertSynced(all: readonly SandboxCluster[], ready: string | undefined): void {
  for (const target of all) {
    const expected = all
      .filter((source) => source !== target)
      .flatMap((source) => source.store.list(nodes).map(({ metadata }) => `my-mesh--${source.name}--${metadata.name}`));
    const held = target.store.list(peers).map(({ metadata }) => metadata.name);
    if (held.sort().join() !== expected.sort().join()) throw new Error(`${target.name} holds ${held}, not ${expected}`);
  }
  if (ready !== "True") throw new Error(`Ready is ${ready}`);
}

function requestsOf({ name, requests }: SandboxCluster): string[] {
  return requests
    .all({ userAgent })
    .filter(({ verb }) => verb !== "watch")
    .map((entry) => `${name} ${entry.verb} ${entry.resource} ${entry.subresource ?? ""} ${entry.name ?? ""}`.trim());
}
