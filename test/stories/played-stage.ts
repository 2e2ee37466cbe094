import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { type ClusterMeshObject, clusterMeshes } from "../../src/api/cluster-mesh.ts";
import { clusterMeshCrd, customResourceDefinitions, isEstablished } from "../../src/api/crd.ts";
import { nodes } from "../../src/api/kilo-node.ts";
import type { PeerObject } from "../../src/api/kilo-peer.ts";
import { secrets } from "../../src/api/kubeconfig-secret.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import { isKubeError } from "../../src/kube/errors.ts";
import { namespaces } from "../../src/kube/resource.ts";
import type { OperatorConfig } from "../../src/operator/config.ts";
import { peerCrd } from "../../src/sandbox/kilo/peer-crd.ts";
import { eventually } from "../support/eventually.ts";
import { fastClock } from "../support/fast-clock.ts";
import { Hearing } from "../support/hearing.ts";
import { logTail } from "../support/log-tail.ts";
import { type RunningOperator, startOperator } from "../support/run-operator.ts";
import { assertHolds, peersIn } from "./compare-peers.ts";
import { assertTrueStatus } from "./compare-status.ts";
import {
  addressesOf,
  aMesh,
  aNode,
  annotationsOf,
  type EntryFacts,
  type Facts,
  homeNamespace,
  type Letter,
  letters,
  type MeshFacts,
  meshIdOf,
  meshSpec,
  type NodeFacts,
  nodeObject,
  noFacts,
} from "./facts.ts";
import { Heartbeats } from "./heartbeats.ts";
import { RequestCounter } from "./request-counter.ts";
import { type Arena, type Credential, operatorAgent, type PeerVerb, type Ring } from "./ring.ts";
import type { Costs, ReadyCondition, Stage } from "./stage.ts";
import { Stopwatch } from "./stopwatch.ts";

const refOf = ({ namespace, name }: MeshFacts) => ({ namespace, name });
/** Longer than the operator keeps a status back. */
const quietSeconds = 12;

/** A stage on the clusters of one ring. Everything it does goes through the API as administrator. */
export class PlayedStage implements Stage {
  readonly #arena: Arena;
  readonly #factor: number;
  readonly #patienceMs: number | undefined;
  readonly #stopwatch: Stopwatch;
  readonly #hearing = new Hearing();
  /** By the cluster they are in, or by their identity. */
  readonly #operators = new Map<string, RunningOperator>();
  readonly #counter: RequestCounter;
  readonly #heartbeats: Heartbeats;
  readonly #tail = logTail();
  readonly #stripped = new Set<string>();
  readonly #instances = new Map<Letter, string>();
  #facts = noFacts;

  static async open(ring: Ring): Promise<PlayedStage> {
    const stage = new PlayedStage(await ring.open(), ring);
    for (const letter of letters) stage.#instances.set(letter, await stage.#instanceOf(letter));
    return stage;
  }

  constructor(arena: Arena, ring: Pick<Ring, "clockFactor" | "patienceMs" | "boundsTimes">) {
    const { clockFactor, patienceMs, boundsTimes } = ring;
    this.#arena = arena;
    this.#factor = clockFactor;
    this.#patienceMs = patienceMs;
    this.#stopwatch = new Stopwatch(boundsTimes);
    this.#counter = new RequestCounter(arena.clusters);
    this.#heartbeats = new Heartbeats({
      clock: fastClock(clockFactor),
      admin: (cluster) => this.admin(cluster),
      living: () => this.#facts.nodes.filter(({ name, silent }) => !this.#stripped.has(name) && !silent),
    });
  }

  async close(): Promise<void> {
    await this.#heartbeats.stop();
    const ends = await Promise.allSettled([...this.#operators.values()].map((operator) => operator.stop()));
    await this.#arena.close();
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  }

  /** The operators' last words, for a story that failed. */
  logLines(): string[] {
    return this.#tail.lines();
  }

  get facts(): Facts {
    return this.#facts;
  }

  admin(cluster: Letter): KubeClient {
    return this.#arena.clusters[cluster].admin;
  }

  async furnish(): Promise<void> {
    for (const letter of letters) await Promise.all([1, 2].map((index) => this.addNode(letter, index)));
    await this.startOperator();
  }

  async begin(clusters: readonly Letter[] = letters): Promise<MeshFacts> {
    const mesh = aMesh(clusters);
    await this.furnish();
    await this.applyMesh(mesh);
    await this.synced();
    await this.settled();
    await this.mark();
    return mesh;
  }

  assume(facts: Partial<Facts>): void {
    this.#facts = { ...this.#facts, ...facts };
  }

  async addNode(cluster: Letter, index: number, overrides: Partial<NodeFacts> = {}): Promise<NodeFacts> {
    const node = aNode(cluster, index, overrides);
    await this.admin(cluster).create(nodes, nodeObject(node));
    this.#facts = { ...this.#facts, nodes: [...this.#facts.nodes, node] };
    return node;
  }

  async deleteNode(name: string): Promise<void> {
    const { cluster } = this.#node(name);
    this.#facts = { ...this.#facts, nodes: this.#facts.nodes.filter((node) => node.name !== name) };
    await this.admin(cluster).delete(nodes, { name });
  }

  async changeNode(name: string, change: Partial<NodeFacts>): Promise<void> {
    const before = this.#node(name);
    const node = { ...before, ...change };
    await this.#annotate(node, { "kilo.squat.ai/force-endpoint": null, ...annotationsOf(node) });
    const addresses = addressesOf(node);
    if (!isDeepStrictEqual(addresses, addressesOf(before))) await this.#address(node, addresses);
    this.#facts = { ...this.#facts, nodes: this.#facts.nodes.map((one) => (one.name === name ? node : one)) };
  }

  hushNode(name: string): void {
    const nodes = this.#facts.nodes.map((node) => (node.name === name ? { ...node, silent: true } : node));
    this.#facts = { ...this.#facts, nodes };
  }

  async stripNode(name: string): Promise<void> {
    this.#stripped.add(name);
    const kilo = Object.keys(annotationsOf(this.#node(name))).filter((key) => !key.endsWith("/force-endpoint"));
    await this.#annotate(this.#node(name), Object.fromEntries(kilo.map((key) => [key, null])));
  }

  async dressNode(name: string): Promise<void> {
    this.#stripped.delete(name);
    await this.#annotate(this.#node(name), annotationsOf(this.#node(name)));
  }

  async applyMesh(mesh: MeshFacts): Promise<void> {
    const others = this.#facts.meshes.filter((one) => one.home !== mesh.home || meshIdOf(one) !== meshIdOf(mesh));
    const exists = others.length < this.#facts.meshes.length;
    this.#facts = { ...this.#facts, meshes: [...others, mesh] };
    for (const entry of mesh.entries) await this.#connect(mesh, entry);
    if (exists) return this.writeSpec(mesh, meshSpec(mesh));
    const metadata = { namespace: mesh.namespace, name: mesh.name };
    await this.eventually(() => this.admin(mesh.home).create(clusterMeshes, { metadata, spec: meshSpec(mesh) }));
  }

  async writeSpec(mesh: MeshFacts, spec: unknown): Promise<void> {
    await this.admin(mesh.home).patch(clusterMeshes, refOf(mesh), { body: { spec } });
  }

  async deleteMesh(mesh: MeshFacts): Promise<void> {
    await this.admin(mesh.home).delete(clusterMeshes, refOf(mesh));
    this.#forgetMesh(mesh);
  }

  async forceDeleteMesh(mesh: MeshFacts): Promise<void> {
    const admin = this.admin(mesh.home);
    await admin.delete(clusterMeshes, refOf(mesh));
    await admin
      .patch(clusterMeshes, refOf(mesh), { body: { metadata: { finalizers: null } } })
      .catch(unless("not-found"));
    this.#forgetMesh(mesh);
  }

  async putSecret(mesh: MeshFacts, secret: string, cluster: Letter): Promise<Credential> {
    const credential = await this.#arena.clusters[cluster].credential();
    await this.writeSecret(mesh, secret, credential.kubeconfig);
    return credential;
  }

  async writeSecret({ home, namespace }: MeshFacts, name: string, kubeconfig: string): Promise<void> {
    const data = { kubeconfig: Buffer.from(kubeconfig).toString("base64") };
    try {
      await this.admin(home).patch(secrets, { namespace, name }, { body: { data } });
    } catch (error) {
      unless("not-found")(error);
      await this.admin(home).create(secrets, { metadata: { namespace, name }, data });
    }
  }

  async deleteSecret({ home, namespace }: MeshFacts, name: string): Promise<void> {
    await this.admin(home).delete(secrets, { namespace, name });
  }

  takeAway(cluster: Letter): Promise<void> {
    return this.#arena.clusters[cluster].takeAway();
  }

  bringBack(cluster: Letter): Promise<void> {
    return this.#arena.clusters[cluster].bringBack();
  }

  refusePeers(cluster: Letter, verb: PeerVerb): Promise<() => Promise<void>> {
    return this.#arena.clusters[cluster].refusePeers(verb);
  }

  async deletePeerType(cluster: Letter): Promise<void> {
    const { name } = peerCrd().metadata;
    await this.admin(cluster).delete(customResourceDefinitions, { name });
    await this.eventually(async () => {
      const found = await this.admin(cluster).get(customResourceDefinitions, { name }).catch(unless("not-found"));
      if (found) throw new Error("the type is still there");
    });
  }

  async createPeerType(cluster: Letter): Promise<void> {
    await this.admin(cluster).create(customResourceDefinitions, peerCrd());
    await this.#established(cluster, peerCrd().metadata.name);
  }

  async startOperator(home: Letter = "a", clockFactor = this.#factor): Promise<void> {
    await this.#start(home, home, { clockFactor });
    await this.#established(home, clusterMeshCrd().metadata.name);
  }

  stopOperator(home: Letter = "a"): Promise<void> {
    return this.#stop(home);
  }

  startReplica(identity: string): Promise<void> {
    return this.#start(identity, "a", { config: { leaderElection: { namespace: homeNamespace, identity } } });
  }

  stopReplica(identity: string): Promise<void> {
    return this.#stop(identity);
  }

  async peer(cluster: Letter, name: string): Promise<PeerObject | undefined> {
    return (await peersIn(this.admin(cluster))).find(({ metadata }) => metadata.name === name);
  }

  mesh(mesh: MeshFacts): Promise<ClusterMeshObject> {
    return this.admin(mesh.home).get(clusterMeshes, refOf(mesh));
  }

  async ready(mesh: MeshFacts): Promise<ReadyCondition> {
    const { status } = await this.mesh(mesh);
    const found = status?.conditions?.find(({ type }) => type === "Ready");
    return found ?? { status: "", reason: "", message: "" };
  }

  async holds({ clusters = letters, facts = this.#facts }: Parameters<Stage["holds"]>[0] = {}): Promise<void> {
    for (const cluster of clusters)
      await assertHolds(facts, { cluster, admin: this.admin(cluster), instances: this.#instances });
  }

  async synced(): Promise<void> {
    await this.eventually(async () => {
      await this.holds();
      for (const mesh of this.#facts.meshes) assertTrueStatus(this.#facts, mesh, await this.mesh(mesh));
    });
  }

  eventually<T>(check: () => T | Promise<T>): Promise<T> {
    const patience = { everyMs: 30, message: "it did not come to be" };
    return eventually(check, this.#patienceMs ? { ...patience, withinMs: this.#patienceMs } : patience);
  }

  async pass(seconds: number): Promise<void> {
    await delay((seconds * 1000) / this.#factor);
  }

  async settled(): Promise<void> {
    let before = -1;
    await this.eventually(async () => {
      const now = (await this.costs()).requests.length;
      if (now === before) return;
      before = now;
      await this.pass(quietSeconds);
      throw new Error("the operator is still busy");
    });
  }

  async heard(): Promise<void> {
    const versions = await this.#heartbeats.beatOnce();
    await this.eventually(() => {
      for (const [letter, version] of versions) {
        const { url } = this.#arena.clusters[letter];
        if (this.#hearing.isListening(url) && this.#hearing.lastHeard(url) < version)
          throw new Error(`the operator has not heard of the latest in ${letter}`);
      }
    });
    await this.pass(quietSeconds);
  }

  timed(what: string, mostSeconds: number, action: () => Promise<void>): Promise<void> {
    return this.#stopwatch.timed(what, mostSeconds, action);
  }

  get times(): readonly string[] {
    return this.#stopwatch.times;
  }

  mark(): Promise<void> {
    return this.#counter.mark();
  }

  costs(): Promise<Costs> {
    return this.#counter.costs();
  }

  /** What API servers have refused to the operators, each once, as `cluster verb resource`. */
  refusals(): Promise<string[]> {
    return this.#counter.refusals();
  }

  async #start(name: string, home: Letter, { config = {}, clockFactor = this.#factor }: StartOptions): Promise<void> {
    const kubeconfig = await this.#arena.clusters[home].operatorKubeconfig();
    const log = this.#tail.log.with({ operator: name });
    const run = { kubeconfig, log, hearing: this.#hearing, clock: fastClock(clockFactor), config };
    this.#operators.set(name, startOperator({ ...run, userAgent: `${operatorAgent}-${name}` }));
  }

  async #stop(name: string): Promise<void> {
    const operator = this.#operators.get(name);
    this.#operators.delete(name);
    await operator?.stop();
  }

  async #instanceOf(cluster: Letter): Promise<string> {
    const { metadata } = await this.admin(cluster).get(namespaces, { name: "kube-system" });
    return createHash("sha256")
      .update(metadata.uid ?? "")
      .digest("hex")
      .slice(0, 16);
  }

  #node(name: string): NodeFacts {
    const node = this.#facts.nodes.find((one) => one.name === name);
    if (!node) throw new Error(`the story has no node ${name}`);
    return node;
  }

  async #annotate({ cluster, name }: NodeFacts, annotations: Record<string, string | null>): Promise<void> {
    await this.admin(cluster).patch(nodes, { name }, { body: { metadata: { annotations } } });
  }

  /** What a kubelet or a cloud provider does. */
  async #address({ cluster, name }: NodeFacts, addresses: ReturnType<typeof addressesOf>): Promise<void> {
    await this.admin(cluster).patch(nodes, { name }, { body: { status: { addresses } }, subresource: "status" });
  }

  /** Puts the Secret of an entry there unless it is there already. */
  async #connect(mesh: MeshFacts, { secret, cluster }: EntryFacts): Promise<void> {
    if (!secret) return;
    const ref = { namespace: mesh.namespace, name: secret };
    const found = await this.admin(mesh.home).get(secrets, ref).catch(unless("not-found"));
    if (!found) await this.putSecret(mesh, secret, cluster);
  }

  #forgetMesh(mesh: MeshFacts): void {
    this.#facts = { ...this.#facts, meshes: this.#facts.meshes.filter((one) => one !== mesh) };
  }

  async #established(cluster: Letter, name: string): Promise<void> {
    await this.eventually(async () => {
      const crd = await this.admin(cluster).get(customResourceDefinitions, { name });
      if (!isEstablished(crd)) throw new Error(`${name} is not served`);
    });
  }
}

interface StartOptions {
  readonly config?: Partial<OperatorConfig>;
  readonly clockFactor?: number;
}

/** Throws the error again unless it is of this kind. */
function unless(kind: "not-found"): (error: unknown) => undefined {
  return (error) => {
    if (!isKubeError(error, kind)) throw error;
    return undefined;
  };
}
