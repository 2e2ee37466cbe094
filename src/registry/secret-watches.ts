import { readSecret, type SecretData, type SecretObject, sameSecretData, secrets } from "../api/kubeconfig-secret.ts";
import type { KubeClient } from "../kube/client.ts";
import { Informer } from "../kube/informer.ts";
import { keyOf } from "../kube/object.ts";
import { failuresAdded, noReadFailures } from "../kube/read-failures.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Logger } from "../runtime/log.ts";
import { betweenLooksMs, Paced } from "./paced.ts";
import { type InformerSummary, informerSummary } from "./summary.ts";
import type { SecretState } from "./wanted.ts";

export interface SecretRefInNamespace {
  readonly namespace: string;
  readonly name: string;
}

export interface SecretWatchesOptions {
  /**
   * For nothing else, and closed with the watches: a server limits the streams of a connection, and meshes may name any
   * number of Secrets. On the connection of the Lease they would keep it from being renewed.
   */
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly onChange: () => void;
}

type Done = Pick<Informer<SecretObject, SecretData>, "listCount" | "streamsEnded" | "readFailures">;

const added = (a: Done, b: Done): Done => ({
  listCount: a.listCount + b.listCount,
  streamsEnded: a.streamsEnded + b.streamsEnded,
  readFailures: failuresAdded(a.readFailures, b.readFailures),
});

/** Follows just the Secrets that meshes name, one watch each: reading all Secrets of a cluster is not our business. */
export class SecretWatches {
  readonly #options: SecretWatchesOptions;
  readonly #watches = new Map<string, Informer<SecretObject, SecretData>>();

  readonly #freshLooks = new Map<string, Paced>();
  readonly #stopped = new AbortController();

  /** What watches that are no more had done. */
  #ended: Done = { listCount: 0, streamsEnded: 0, readFailures: noReadFailures };

  constructor(options: SecretWatchesOptions) {
    this.#options = options;
  }

  /** Which Secrets there will be is not known yet: by then the connection is there. */
  start(): void {
    this.#options.client.open();
  }

  /** Starts what is missing and stops what nobody names any more. */
  async follow(refs: readonly SecretRefInNamespace[]): Promise<void> {
    const wanted = new Map(refs.map((ref) => [keyOf(ref), ref]));
    for (const [key, ref] of wanted) if (!this.#watches.has(key)) this.#begin(key, ref);
    const unwanted = [...this.#watches].filter(([key]) => !wanted.has(key));
    for (const [key, watch] of unwanted) {
      this.#watches.delete(key);
      this.#freshLooks.delete(key);
      this.#ended = added(this.#ended, watch);
    }
    await Promise.all(unwanted.map(([, watch]) => watch.stop()));
  }

  /** Reads these anew, at once: what waits for a retry does not wait any longer. Again only after a while. */
  relist(refs: readonly SecretRefInNamespace[]): void {
    for (const key of new Set(refs.map(keyOf))) this.#freshLooks.get(key)?.ask();
  }

  state(namespace: string, name: string): SecretState {
    const key = keyOf({ namespace, name });
    const watch = this.#watches.get(key);
    const data = watch?.get(key);
    if (data) return { state: "known", data };
    return watch?.knowledge.state === "known" ? { state: "missing" } : { state: "unknown" };
  }

  /** All watches as one: which Secrets there are is nobody's business. */
  summary(): InformerSummary {
    return informerSummary(secrets, [...this.#watches.values()].reduce(added, this.#ended));
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.follow([]);
    this.#options.client.close();
  }

  #begin(key: string, ref: SecretRefInNamespace): void {
    const watch = this.#watch(ref);
    const { clock } = this.#options;
    const { signal } = this.#stopped;
    this.#watches.set(key, watch);
    this.#freshLooks.set(key, new Paced({ clock, betweenMs: betweenLooksMs, signal, act: () => watch.relist() }));
  }

  #watch({ namespace, name }: SecretRefInNamespace): Informer<SecretObject, SecretData> {
    const { client, clock, log, onChange } = this.#options;
    const watch = new Informer({
      client,
      clock,
      log,
      namespace,
      fieldSelector: `metadata.name=${name}`,
      resource: secrets,
      decode: readSecret,
      same: sameSecretData,
    });
    watch.onChange(onChange);
    watch.onKnowledge(onChange);
    watch.start();
    return watch;
  }
}
