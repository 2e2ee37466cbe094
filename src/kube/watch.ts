import type { Clock } from "../runtime/clock.ts";
import type { KubeClient, WatchOptions } from "./client.ts";
import { KubeError, type KubeErrorFacts } from "./errors.ts";
import { LineSplitter, LineTooLongError } from "./lines.ts";
import type { KubeObject } from "./object.ts";
import type { Resource } from "./resource.ts";
import { refusalOf } from "./status.ts";

export type WatchEvent<T extends KubeObject> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T; readonly resourceVersion: string }
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string };

export interface WatchRequest<T extends KubeObject> extends WatchOptions {
  readonly client: KubeClient;
  readonly resource: Resource<T>;
  readonly clock: Clock;
  /** Silence is allowed for `timeoutSeconds` and this long. Default 15 s. */
  readonly idleMarginMs?: number;
  readonly maxLineBytes?: number;
  /** Called once, when the server has accepted the watch. */
  readonly onOpen?: () => void;
  /** Asked for every line before it is read: true when its event is known and need not be told. */
  readonly isKnown?: (line: Buffer) => boolean;
}

/** What arrived cannot be trusted: the stream has to be given up and the list read again. */
export class BrokenStreamError extends KubeError {}

/**
 * The events of one watch. Ends when the server ends it; throws a `KubeError` for an ERROR event, for bytes that are no
 * events, and as `timeout` when nothing at all arrives for longer than the server was asked to keep the stream open.
 */
export async function* watchEvents<T extends KubeObject>(
  request: WatchRequest<T>,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  const silence = new SilenceLimit(request);
  try {
    const chunks = await request.client.watch(request.resource, optionsOf(request, silence.signal));
    request.onOpen?.();
    silence.heard();
    const lines = new LineSplitter(request.maxLineBytes);
    for await (const chunk of chunks) {
      silence.heard();
      for (const line of unknownLines(lines.push(chunk), request)) yield readEvent(line, request);
    }
    silence.signal.throwIfAborted();
  } catch (error) {
    if (error instanceof LineTooLongError) throw broken(request, "watch line is too long");
    throw silence.signal.aborted ? silence.signal.reason : error;
  } finally {
    silence.stop();
  }
}

function* unknownLines(lines: Iterable<Buffer>, request: WatchRequest<KubeObject>): Generator<Buffer, void, undefined> {
  for (const line of lines) if (!request.isKnown?.(line)) yield line;
}

/** Aborts the stream when nobody has called `heard` for too long: one sleep per limit, not one per chunk. */
class SilenceLimit {
  readonly #request: WatchRequest<KubeObject>;
  readonly #stream = new AbortController();
  readonly #over = new AbortController();
  readonly #limitMs: number;
  readonly #forward = () => this.#stream.abort(this.#request.signal.reason);
  #heardAt: number;

  constructor(request: WatchRequest<KubeObject>) {
    this.#request = request;
    this.#limitMs = request.timeoutSeconds * 1000 + (request.idleMarginMs ?? 15_000);
    this.#heardAt = request.clock.now();
    request.signal.addEventListener("abort", this.#forward, { once: true });
    if (request.signal.aborted) this.#forward();
    void this.#guard();
  }

  get signal(): AbortSignal {
    return this.#stream.signal;
  }

  heard(): void {
    this.#heardAt = this.#request.clock.now();
  }

  stop(): void {
    this.#over.abort();
    this.#request.signal.removeEventListener("abort", this.#forward);
  }

  async #guard(): Promise<void> {
    const { clock } = this.#request;
    try {
      for (let left = this.#limitMs; left > 0; left = this.#heardAt + this.#limitMs - clock.now())
        await clock.sleep(left, this.#over.signal);
      this.#stream.abort(errorOf(this.#request, { kind: "timeout", detail: "the watch stream is silent" }));
    } catch {
      // The watch is over and `stop` ended the sleep.
    }
  }
}

function optionsOf(request: WatchRequest<KubeObject>, signal: AbortSignal): WatchOptions {
  const { namespace, labelSelector, fieldSelector, resourceVersion, timeoutSeconds, deadlineMs } = request;
  return {
    signal,
    resourceVersion,
    timeoutSeconds,
    ...(namespace !== undefined && { namespace }),
    ...(labelSelector !== undefined && { labelSelector }),
    ...(fieldSelector !== undefined && { fieldSelector }),
    ...(deadlineMs !== undefined && { deadlineMs }),
  };
}

interface RawEvent<T> {
  readonly type?: unknown;
  readonly object?: T | null;
}

function readEvent<T extends KubeObject>(line: Buffer, request: WatchRequest<T>): WatchEvent<T> {
  const { type, object } = parse<T>(line, request);
  if (type === "ERROR") throw errorOfStatus(object, request);
  const metadata = object?.metadata;
  const resourceVersion = metadata?.resourceVersion;
  if (typeof resourceVersion !== "string") throw broken(request, "watch event without an object");
  if (type === "BOOKMARK") return { type, resourceVersion };
  if (typeof metadata?.name !== "string") throw broken(request, "watch event without an object");
  if (type === "ADDED" || type === "MODIFIED" || type === "DELETED")
    return { type, object: object as T, resourceVersion };
  throw broken(request, "watch event of an unknown type");
}

function parse<T>(line: Buffer, request: WatchRequest<KubeObject>): RawEvent<T> {
  try {
    const event: unknown = JSON.parse(line.toString("utf8"));
    if (typeof event === "object" && event !== null) return event as RawEvent<T>;
  } catch {
    // Told below, without the text: it may hold anything.
  }
  throw broken(request, "watch stream is not JSON");
}

function errorOfStatus(body: unknown, request: WatchRequest<KubeObject>): KubeError {
  const code = typeof body === "object" && body !== null && "code" in body ? body.code : undefined;
  const status = typeof code === "number" ? code : 500;
  return errorOf(request, {
    detail: "the watch reported an error",
    ...refusalOf({ status, retryAfter: undefined, body }),
  });
}

type Cause = Omit<KubeErrorFacts, "cluster" | "verb" | "resource">;

function errorOf(request: WatchRequest<KubeObject>, cause: Cause): KubeError {
  return new KubeError({ ...whereOf(request), ...cause });
}

function broken(request: WatchRequest<KubeObject>, detail: string): BrokenStreamError {
  return new BrokenStreamError({ ...whereOf(request), kind: "server", detail });
}

function whereOf({
  client,
  resource,
}: WatchRequest<KubeObject>): Pick<KubeErrorFacts, "cluster" | "verb" | "resource"> {
  const { plural, group } = resource;
  return { cluster: client.cluster, verb: "watch", resource: group === "" ? plural : `${plural}.${group}` };
}
