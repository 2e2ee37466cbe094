import type { KubeClient } from "../../kube/client.ts";
import { isKubeError } from "../../kube/errors.ts";
import { backoffMs } from "../../runtime/backoff.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/log.ts";
import type { EndpointId } from "../identity.ts";
import { type PublishReason, publishReasons } from "../reasons.ts";
import { type EndpointSlice, endpointSlices, type SliceFacts } from "./slice-facts.ts";

export interface IdPublisherOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly annotationPrefix: string;
  readonly podName: string;
  readonly endpointId: EndpointId;
  /** Takes the answer of a write in, so that it is not written again. */
  readonly learn: (slice: EndpointSlice) => void;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
}

const backoff = { firstMs: 1_000, maxMs: 300_000 };
const longestAnnotationName = 63;
/** Ids of pods that are gone stay until there are more than this: one may be absent for a moment only. */
const staleIdsKept = 100;
/** So many writes go out at once; when somebody else keeps taking them back, the rest is slowed down. */
const freeWrites = 8;
const calmAfterMs = 60_000;

/** Keeps the annotation with our id on every slice that holds our pod. Writes only what is missing or different. */
export class IdPublisher {
  readonly #options: IdPublisherOptions;
  readonly #key: string;
  readonly #told = new Set<PublishReason>();
  readonly #stopped = new AbortController();
  #slices: readonly SliceFacts[] = [];
  #writes = 0;
  #lastWriteAt = 0;
  #working: Promise<void> | undefined;

  constructor(options: IdPublisherOptions) {
    this.#options = options;
    this.#key = `endpoint_id.${options.podName}`;
  }

  /** Looks at the slices as they are now. A write that is under way sees them too. */
  see(slices: readonly SliceFacts[]): void {
    this.#slices = slices;
    if (this.#working || this.#stopped.signal.aborted || !this.#next()) return;
    if (this.#fits())
      this.#working = this.#work().finally(() => {
        this.#working = undefined;
      });
    else this.#warnOnce("NameTooLong");
  }

  async close(): Promise<void> {
    this.#stopped.abort();
    await this.#working;
  }

  async #work(): Promise<void> {
    const { clock, random } = this.#options;
    const { signal } = this.#stopped;
    for (let slice = this.#next(); slice && !signal.aborted; slice = this.#next()) {
      if (clock.now() - this.#lastWriteAt > calmAfterMs) this.#writes = 0;
      this.#lastWriteAt = clock.now();
      const leftAloneMs = await this.#publish(slice);
      const tries = this.#writes++ - (leftAloneMs === undefined ? freeWrites : 0);
      const pauseMs = tries < 0 ? 0 : Math.max(leftAloneMs ?? 0, backoffMs(backoff, tries, random));
      await clock.sleep(pauseMs, signal).catch(() => undefined);
    }
  }

  /** Undefined when it is done, else how long the server wants to be left alone at least. */
  async #publish(slice: SliceFacts): Promise<number | undefined> {
    const { client, namespace, learn, log, podName } = this.#options;
    const body = { metadata: { annotations: this.#annotationsFor(slice) } };
    try {
      const { signal } = this.#stopped;
      const answer = await client.patch(endpointSlices, { namespace, name: slice.name }, { body, signal });
      this.#drop(slice);
      learn(answer);
      this.#told.clear();
      log.info("endpoint id published", { slice: slice.name, pod: podName });
    } catch (error) {
      if (this.#stopped.signal.aborted) return undefined;
      if (!isKubeError(error, "not-found")) return this.#refused(error);
      this.#drop(slice);
    }
    return undefined;
  }

  #refused(error: unknown): number {
    this.#warnOnce(isKubeError(error, "forbidden") ? "PatchForbidden" : "PatchFailed", error);
    return isKubeError(error) ? (error.retryAfterMs ?? 0) : 0;
  }

  #next(): SliceFacts | undefined {
    const { podName, endpointId } = this.#options;
    return this.#slices.find(
      ({ endpoints, annotations }) =>
        annotations[this.#key] !== endpointId && endpoints.some(({ isPod, name }) => isPod && name === podName),
    );
  }

  /** Written, or gone already. What the watch says next of this slice counts again. */
  #drop(done: SliceFacts): void {
    this.#slices = this.#slices.filter((slice) => slice !== done);
  }

  #annotationsFor(slice: SliceFacts): Readonly<Record<string, string | null>> {
    const { annotationPrefix, endpointId } = this.#options;
    const present = new Set(
      this.#slices.flatMap(({ endpoints }) => endpoints.map(({ name }) => `endpoint_id.${name}`)),
    );
    const stale = Object.keys(slice.annotations).filter((key) => key.startsWith("endpoint_id.") && !present.has(key));
    const removed = stale.length > staleIdsKept ? stale.map((key) => [`${annotationPrefix}${key}`, null]) : [];
    return { ...Object.fromEntries(removed), [`${annotationPrefix}${this.#key}`]: endpointId };
  }

  #fits(): boolean {
    const key = `${this.#options.annotationPrefix}${this.#key}`;
    return key.length - (key.lastIndexOf("/") + 1) <= longestAnnotationName;
  }

  #warnOnce(reason: PublishReason, error?: unknown): void {
    if (this.#told.has(reason)) return;
    this.#told.add(reason);
    const { hint } = publishReasons[reason];
    const text = error instanceof Error ? error.message : undefined;
    this.#options.log.warn("endpoint id cannot be published", { reason, hint, ...(text && { error: text }) });
  }
}
