import type { KubeClient, ListOptions, WatchOptions } from "../../src/kube/client.ts";
import type { KubeErrorKind } from "../../src/kube/errors.ts";
import type { KubeList, KubeObject } from "../../src/kube/object.ts";
import { aKubeError, anObject, bookmark, errorEvent, ScriptedStream } from "./scripted-client.ts";

interface HistoryEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: KubeObject;
}

export type Trouble = "fail-list" | "fail-watch" | "stale-list" | "garbage" | "cut" | "end" | "duplicate" | "compact";

/** The rules of list and watch in a few lines: what a property test compares an informer with. */
export class ModelServer {
  readonly cluster = "model";
  readonly #objects = new Map<string, KubeObject>();
  readonly #troubles: Trouble[] = [];
  readonly #streams = new Set<ScriptedStream>();
  #history: HistoryEvent[] = [];
  #old: KubeList<KubeObject> = { metadata: { resourceVersion: "1" }, items: [] };
  #version = 1;
  #oldestVersion = 1;

  get facts(): Record<string, string | undefined> {
    return Object.fromEntries([...this.#objects].map(([name, { metadata }]) => [name, metadata.labels?.value]));
  }

  get version(): string {
    return String(this.#version);
  }

  get client(): KubeClient {
    return this as unknown as KubeClient;
  }

  write(name: string, value: string): KubeObject {
    const object = anObject(name, ++this.#version, value);
    this.#tell({ type: this.#objects.has(name) ? "MODIFIED" : "ADDED", object });
    this.#objects.set(name, object);
    return object;
  }

  remove(name: string): void {
    const known = this.#objects.get(name);
    if (!known) return;
    this.#objects.delete(name);
    this.#tell({ type: "DELETED", object: anObject(name, ++this.#version, known.metadata.labels?.value) });
  }

  /** Something else in the cluster changed; only bookmarks tell. */
  passTime(): void {
    this.#version += 3;
    for (const stream of this.#streams) stream.send(bookmark(this.#version));
  }

  trouble(trouble: Trouble): void {
    const harm = { garbage: "harm", cut: "harm", end: "harm", duplicate: "harm", compact: "harm" } as const;
    if (!(trouble in harm)) this.#troubles.push(trouble);
    else if (trouble === "compact") this.#compact();
    else for (const stream of this.#streams) this.#harm(stream, trouble);
  }

  calm(): void {
    this.#troubles.length = 0;
  }

  async list(_: unknown, options: ListOptions): Promise<KubeList<KubeObject>> {
    if (this.#take("fail-list")) throw aKubeError(this.#anyError());
    if (this.#take("stale-list")) return this.#old;
    // Every page of a list is of the moment in which its first one was asked for, as on a real server.
    if (options.continue === undefined) {
      this.#old = { metadata: { resourceVersion: this.version }, items: [...this.#objects.values()] };
    }
    const { metadata, items } = this.#old;
    const from = Number(options.continue ?? 0);
    const to = from + (options.limit ?? items.length);
    const next = to < items.length ? { continue: String(to) } : {};
    return { metadata: { ...metadata, ...next }, items: items.slice(from, to) };
  }

  async watch(_: unknown, options: WatchOptions): Promise<AsyncIterable<Uint8Array>> {
    if (this.#take("fail-watch")) throw aKubeError(this.#anyError(), "watch");
    const stream = new ScriptedStream();
    const from = Number(options.resourceVersion);
    if (from < this.#oldestVersion) stream.send(errorEvent(410, "Expired")).end();
    else stream.send(...this.#history.filter(({ object }) => Number(object.metadata.resourceVersion) > from));
    this.#streams.add(stream);
    return stream.open(options.signal);
  }

  #tell(event: HistoryEvent): void {
    this.#history.push(event);
    for (const stream of this.#streams) if (!stream.closed) stream.send(event);
  }

  #harm(stream: ScriptedStream, trouble: Trouble): void {
    if (trouble === "garbage") stream.sendText("<html>\n");
    if (trouble === "cut") stream.fail(aKubeError("unreachable", "watch"));
    if (trouble === "end") stream.end();
    if (trouble === "duplicate") stream.send(...this.#history.slice(-3));
    if (trouble !== "duplicate") this.#streams.delete(stream);
  }

  #compact(): void {
    this.#history = [];
    this.#oldestVersion = this.#version;
  }

  #take(trouble: Trouble): boolean {
    const at = this.#troubles.indexOf(trouble);
    if (at >= 0) this.#troubles.splice(at, 1);
    return at >= 0;
  }

  #anyError(): KubeErrorKind {
    const kinds = [
      "unreachable",
      "server",
      "timeout",
      "too-many-requests",
      "unauthorized",
      "gone",
      "forbidden",
    ] as const;
    return kinds[this.#version % kinds.length] ?? "server";
  }
}
