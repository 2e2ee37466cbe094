import { nodes } from "../../src/api/kilo-node.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import { isKubeError } from "../../src/kube/errors.ts";
import type { Clock } from "../../src/runtime/clock.ts";
import { type Letter, letters, type NodeFacts } from "./facts.ts";

export interface HeartbeatOptions {
  readonly clock: Clock;
  readonly admin: (cluster: Letter) => KubeClient;
  /** The nodes on which Kilo runs now. */
  readonly living: () => readonly NodeFacts[];
}

const everyMs = 30_000;

/** What Kilo does on every node all the time: it rewrites `last-seen`. */
export class Heartbeats {
  readonly #options: HeartbeatOptions;
  readonly #stopped = new AbortController();
  readonly #running: Promise<unknown>;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    // A cluster that does not answer must not silence the others.
    this.#running = Promise.all(letters.map((letter) => this.#run(letter)));
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  /** One beat of one node in each cluster; the version that it gave the node. */
  async beatOnce(): Promise<Map<Letter, number>> {
    const versions = new Map<Letter, number>();
    for (const letter of letters) {
      const first = this.#options.living().find(({ cluster }) => cluster === letter);
      const version = first && (await this.#beat(first));
      if (version) versions.set(letter, version);
    }
    return versions;
  }

  async #run(letter: Letter): Promise<void> {
    const { clock, living } = this.#options;
    const own = () => living().filter(({ cluster }) => cluster === letter);
    while (!this.#stopped.signal.aborted) {
      await clock.sleep(everyMs, this.#stopped.signal).catch(() => undefined);
      if (!this.#stopped.signal.aborted) await Promise.all(own().map((node) => this.#beat(node)));
    }
  }

  /** Nothing where the node or its API server is away. */
  async #beat({ cluster, name }: NodeFacts): Promise<number | undefined> {
    const { admin, clock } = this.#options;
    const annotations = { "kilo.squat.ai/last-seen": String(clock.date().getTime()) };
    try {
      const written = await admin(cluster).patch(nodes, { name }, { body: { metadata: { annotations } } });
      return Number(written.metadata.resourceVersion);
    } catch (error) {
      if (isKubeError(error)) return undefined;
      throw error;
    }
  }
}
