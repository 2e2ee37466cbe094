import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { clusterMeshCrd, customResourceDefinitions, isEstablished } from "../../src/api/crd.ts";
import type { PeerObject } from "../../src/api/kilo-peer.ts";
import type { KubeClient } from "../../src/kube/client.ts";
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
import { aMesh, homeNamespace, type Letter, letters, type MeshFacts } from "./facts.ts";
import { Heartbeats } from "./heartbeats.ts";
import { RequestCounter } from "./request-counter.ts";
import {
  type Arena,
  type Credential,
  type CredentialOptions,
  operatorAgent,
  type PeerVerb,
  type Ring,
} from "./ring.ts";
import type { Costs, Stage } from "./stage.ts";
import { StagedMeshes, unless } from "./staged-meshes.ts";
import { Stopwatch } from "./stopwatch.ts";

/** Longer than the operator keeps a status back. */
const quietSeconds = 12;

/** A stage on the clusters of one ring. */
export class PlayedStage extends StagedMeshes implements Stage {
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
  readonly #instances = new Map<Letter, string>();

  static async open(ring: Ring): Promise<PlayedStage> {
    const stage = new PlayedStage(await ring.open(), ring);
    for (const letter of letters) stage.#instances.set(letter, await stage.#instanceOf(letter));
    return stage;
  }

  constructor(arena: Arena, ring: Pick<Ring, "clockFactor" | "patienceMs" | "boundsTimes">) {
    super();
    const { clockFactor, patienceMs, boundsTimes } = ring;
    this.#arena = arena;
    this.#factor = clockFactor;
    this.#patienceMs = patienceMs;
    this.#stopwatch = new Stopwatch(boundsTimes);
    this.#counter = new RequestCounter(arena.clusters);
    this.#heartbeats = new Heartbeats({
      clock: fastClock(clockFactor),
      admin: (cluster) => this.admin(cluster),
      living: () => this.living(),
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

  admin(cluster: Letter): KubeClient {
    return this.#arena.clusters[cluster].admin;
  }

  protected credentialOf(cluster: Letter, options?: CredentialOptions): Promise<Credential> {
    return this.#arena.clusters[cluster].credential(options);
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

  async holds({ clusters = letters, facts = this.facts }: Parameters<Stage["holds"]>[0] = {}): Promise<void> {
    for (const cluster of clusters)
      await assertHolds(facts, { cluster, admin: this.admin(cluster), instances: this.#instances });
  }

  async synced(): Promise<void> {
    await this.eventually(async () => {
      await this.holds();
      for (const mesh of this.facts.meshes) assertTrueStatus(this.facts, mesh, await this.mesh(mesh));
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
