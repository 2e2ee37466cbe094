import type { KubeClient, ListOptions, WatchOptions } from "../../src/kube/client.ts";
import { KubeError, type KubeErrorKind, type Verb } from "../../src/kube/errors.ts";
import type { KubeList, KubeObject } from "../../src/kube/object.ts";

type Answer<Options, Result> = Result | Error | ((options: Options) => Result | Promise<Result>);

/** A KubeClient for one informer: answers lists and watches from a script, in order, and notes what was asked. */
export class ScriptedClient implements KubeClient {
  readonly cluster = "alpha";
  readonly listsAsked: ListOptions[] = [];
  readonly watchesAsked: WatchOptions[] = [];
  readonly #lists: Answer<ListOptions, KubeList<KubeObject>>[] = [];
  readonly #watches: Answer<WatchOptions, ScriptedStream>[] = [];

  /** Each answer is given once; the last one again and again. */
  willList(...answers: readonly Answer<ListOptions, KubeList<KubeObject>>[]): void {
    this.#lists.splice(0, this.#lists.length, ...answers);
  }

  willWatch(...answers: readonly Answer<WatchOptions, ScriptedStream>[]): void {
    this.#watches.splice(0, this.#watches.length, ...answers);
  }

  async list<T extends KubeObject>(_: unknown, options: ListOptions = {}): Promise<KubeList<T>> {
    this.listsAsked.push(options);
    return (await next(this.#lists, options)) as KubeList<T>;
  }

  async watch(_: unknown, options: WatchOptions): Promise<AsyncIterable<Uint8Array>> {
    this.watchesAsked.push(options);
    const stream = await next(this.#watches, options);
    return stream.open(options.signal);
  }

  get = unexpected;
  create = unexpected;
  replace = unexpected;
  patch = unexpected;
  delete = unexpected;
  open(): void {}

  close(): void {}
}

async function next<Options, Result>(answers: Answer<Options, Result>[], options: Options): Promise<Result> {
  const answer = answers.length > 1 ? answers.shift() : answers[0];
  if (answer === undefined) throw new Error("the script has no answer for this");
  if (answer instanceof Error) throw answer;
  return typeof answer === "function" ? (answer as (options: Options) => Result)(options) : answer;
}

function unexpected(): Promise<never> {
  return Promise.reject(new Error("an informer only lists and watches"));
}

/** A watch stream that a test feeds. */
export class ScriptedStream {
  readonly #queue: (Uint8Array | Error | "end")[] = [];
  #wake: (() => void) | undefined;
  opened = false;
  closed = false;

  send(...events: readonly unknown[]): this {
    return this.sendText(events.map((event) => `${JSON.stringify(event)}\n`).join(""));
  }

  sendText(text: string): this {
    return this.#push(Buffer.from(text));
  }

  fail(error: Error): this {
    return this.#push(error);
  }

  end(): this {
    return this.#push("end");
  }

  async *open(signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    this.opened = true;
    const wake = () => this.#wake?.();
    signal.addEventListener("abort", wake);
    try {
      for (;;) {
        signal.throwIfAborted();
        const item = this.#queue.shift();
        if (item === "end") return;
        if (item instanceof Error) throw item;
        if (item) yield item;
        else await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    } finally {
      this.closed = true;
      signal.removeEventListener("abort", wake);
    }
  }

  #push(item: Uint8Array | Error | "end"): this {
    this.#queue.push(item);
    this.#wake?.();
    return this;
  }
}

export function aKubeError(kind: KubeErrorKind, verb: Verb = "list", more: { retryAfterMs?: number } = {}): KubeError {
  return new KubeError({ kind, verb, cluster: "alpha", resource: "nodes", ...more });
}

export function anObject(name: string, version: number, value = "x"): KubeObject {
  return { metadata: { name, resourceVersion: String(version), labels: { value } } };
}

/** One of several of a list, all of version 10; the last one without a token. */
export const page = (token: string | undefined, ...items: readonly KubeObject[]): KubeList<KubeObject> => ({
  metadata: { resourceVersion: "10", ...(token && { continue: token }) },
  items,
});

export function aList(version: number, ...items: readonly KubeObject[]): KubeList<KubeObject> {
  return { metadata: { resourceVersion: String(version) }, items };
}

export const added = (object: KubeObject) => ({ type: "ADDED", object });
export const modified = (object: KubeObject) => ({ type: "MODIFIED", object });
export const deleted = (object: KubeObject) => ({ type: "DELETED", object });
export const bookmark = (version: number) => ({
  type: "BOOKMARK",
  object: { metadata: { resourceVersion: String(version) } },
});
export const errorEvent = (code: number, reason: string, details?: unknown) => ({
  type: "ERROR",
  object: { kind: "Status", code, reason, message: "planted-secret", details },
});
