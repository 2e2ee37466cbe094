import type { Clock } from "../runtime/clock.ts";
import type { Logger } from "../runtime/log.ts";
import type { KubeClient, ListOptions } from "./client.ts";
import { isKubeError, KubeError, type Verb } from "./errors.ts";
import { listPages } from "./list-pages.ts";
import type { KubeList, KubeObject } from "./object.ts";
import { PageSize } from "./page-size.ts";
import type { Progress } from "./progress.ts";
import { type Resource, resourceText } from "./resource.ts";
import { compareVersions } from "./resource-version.ts";

/** Where a list goes. It arrives page by page, so that no more than one page is ever held. */
export interface ListSink<T extends KubeObject> {
  beginList(): void;
  addPage(items: readonly T[]): void;
  endList(resourceVersion: string, askedAt: number): void;
  /** The server has a new history: the versions seen so far mean nothing any more. */
  startOver(): void;
}

export interface ListerOptions<T extends KubeObject> {
  readonly client: KubeClient;
  readonly resource: Resource<T>;
  readonly selection: Pick<ListOptions, "namespace" | "labelSelector" | "fieldSelector">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly pageSize: number;
  readonly mostObjects: number;
  readonly progress: Progress;
  readonly sink: ListSink<T>;
}

/** Lists that stay behind for so long are no lagging replica: the server was restored from a backup. */
const newHistoryAfterMs = 120_000;
const deadlineMs = 30_000;

/** Reads complete lists, and refuses what cannot be one: an older one, one without an end, one that is not of objects. */
export class Lister<T extends KubeObject> {
  readonly #options: ListerOptions<T>;
  readonly #pageSize: PageSize;
  #behindSince: number | undefined;

  constructor(options: ListerOptions<T>) {
    this.#options = options;
    this.#pageSize = new PageSize(options.pageSize);
  }

  async list(signal: AbortSignal): Promise<void> {
    try {
      await this.#read(signal);
      this.#pageSize.answered();
    } catch (error) {
      if (isKubeError(error, "server", "timeout")) this.#pageSize.failed();
      throw error;
    }
  }

  /** A server may tell of ever more objects: they would take the memory of all the others. */
  tooMany(verb: Verb): KubeError {
    return this.failure(verb, `more than ${this.#options.mostObjects} objects`);
  }

  /** The server answered, and what it says is no answer. */
  failure(verb: Verb, detail: string): KubeError {
    const { client, resource } = this.#options;
    return new KubeError({ kind: "server", cluster: client.cluster, verb, resource: resourceText(resource), detail });
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { clock, client, resource, selection, sink, progress, mostObjects } = this.#options;
    const options = { ...selection, limit: this.#pageSize.current, deadlineMs, signal };
    const askedAt = clock.now();
    let version = "";
    let token: string | undefined;
    let count = 0;
    sink.beginList();
    for await (const page of listPages(client, resource, options)) {
      count += page.items.length;
      if (count > mostObjects) throw this.tooMany("list");
      version ||= this.#acceptVersion(page.metadata.resourceVersion);
      token = this.#acceptPage(page, token);
      sink.addPage(page.items);
    }
    signal.throwIfAborted();
    sink.endList(version, askedAt);
    progress.advance(version);
  }

  /** Refuses a list that is older than what was seen before, unless the server stays there. */
  #acceptVersion(version: string): string {
    const { clock, progress, sink, log } = this.#options;
    if (compareVersions(version, progress.version) >= 0) {
      this.#behindSince = undefined;
      return version;
    }
    this.#behindSince ??= clock.now();
    if (clock.now() - this.#behindSince < newHistoryAfterMs)
      throw this.failure("list", "the list is older than what was seen before");
    log.warn("the server's history went back, starting over", { seen: progress.version, listed: version });
    this.#behindSince = undefined;
    progress.startOver();
    sink.startOver();
    return version;
  }

  /** A page may hold anything; a token that repeats would lead round in circles. */
  #acceptPage({ items, metadata }: KubeList<T>, lastToken: string | undefined): string | undefined {
    const token = metadata.continue;
    if (token !== undefined && token === lastToken) throw this.failure("list", "the continue token repeats");
    if (!items.every(isNamed)) throw this.failure("list", "a list item without a name or a version");
    return token;
  }
}

/** What a list holds may be anything. */
function isNamed(item: KubeObject | null | undefined): boolean {
  const { name, resourceVersion } = item?.metadata ?? {};
  return isText(name) && isText(resourceVersion);
}

const isText = (value: unknown): boolean => typeof value === "string" && value !== "";
