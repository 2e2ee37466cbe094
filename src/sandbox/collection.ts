import { keyOf } from "../kube/object.ts";
import { History } from "./history.ts";
import type { WireObject } from "./wire-object.ts";

/** The objects of one resource, now and in the recent past. */
export class Collection {
  readonly history: History;
  readonly #objects = new Map<string, WireObject>();
  #sorted: readonly string[] | undefined;

  constructor(historyLimit: number) {
    this.history = new History(historyLimit);
  }

  get(key: string): WireObject | undefined {
    return this.#objects.get(key);
  }

  put(object: WireObject, revision: number): void {
    const key = keyOf(object.metadata);
    const previous = this.#objects.get(key);
    if (!previous) this.#sorted = undefined;
    this.#objects.set(key, object);
    this.history.append({ revision, object, previous, deleted: false, frames: new Map(), waiting: 0 });
  }

  /** `last` is the state that the deletion event shows. */
  remove(last: WireObject, revision: number): void {
    const key = keyOf(last.metadata);
    const previous = this.#objects.get(key);
    this.#objects.delete(key);
    this.#sorted = undefined;
    this.history.append({ revision, object: last, previous, deleted: true, frames: new Map(), waiting: 0 });
  }

  /** In the order of their keys. */
  all(): readonly WireObject[] {
    this.#sorted ??= [...this.#objects.keys()].sort(byCodeUnits);
    return this.#sorted.flatMap((key) => this.#objects.get(key) ?? []);
  }

  /** As it was at `revision`, or undefined when that is too long ago. */
  asOf(revision: number): readonly WireObject[] | undefined {
    const later = this.history.since(revision);
    if (!later || later.length === 0) return later && this.all();
    const past = new Map(this.#objects);
    for (const event of later.toReversed()) {
      const key = keyOf(event.object.metadata);
      if (event.previous) past.set(key, event.previous);
      else past.delete(key);
    }
    return [...past.keys()].sort(byCodeUnits).flatMap((key) => past.get(key) ?? []);
  }
}

export function byCodeUnits(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
