import { cleanupFinalizer, isDefinition } from "./crd.ts";
import type { RemoveOptions } from "./object-store.ts";
import type { ServedResource } from "./served-resource.ts";
import type { WireObject } from "./wire-object.ts";

/** What ending a namespace or a definition needs of the store. */
export interface TerminationPort {
  find(served: ServedResource, name: string): WireObject | undefined;
  everything(): Iterable<readonly [ServedResource, readonly WireObject[]]>;
  remove(served: ServedResource, ref: WireObject["metadata"], options: RemoveOptions): unknown;
  drop(served: ServedResource, object: WireObject): unknown;
}

/** Empties namespaces and definitions that are being deleted, and takes them away once they are empty. */
export class Termination {
  readonly #store: TerminationPort;
  readonly #ending = new Map<string, readonly [ServedResource, name: string]>();
  #settling = false;

  constructor(store: TerminationPort) {
    this.#store = store;
  }

  begin(served: ServedResource, object: WireObject): void {
    if (!holdsOthers(served)) return;
    const { name } = object.metadata;
    this.#ending.set(`${served.storedAs}/${name}`, [served, name]);
    this.settle();
  }

  settle(): void {
    if (this.#settling || this.#ending.size === 0) return;
    this.#settling = true;
    for (const [key, [served, name]] of [...this.#ending]) {
      const object = this.#store.find(served, name);
      if (object && (!this.#emptied(served, object) || hasForeignFinalizer(object))) continue;
      this.#ending.delete(key);
      if (object) this.#store.drop(served, object);
    }
    this.#settling = false;
  }

  #emptied(served: ServedResource, object: WireObject): boolean {
    for (const [ownResource, content] of this.#contents(served, object)) {
      this.#store.remove(ownResource, content.metadata, { graceSeconds: 0 });
    }
    return [...this.#contents(served, object)].length === 0;
  }

  *#contents(served: ServedResource, { metadata }: WireObject): Generator<readonly [ServedResource, WireObject]> {
    for (const [resource, objects] of this.#store.everything()) {
      for (const object of objects) {
        const inside =
          served.storedAs === "namespaces"
            ? object.metadata.namespace === metadata.name
            : resource.storedAs === metadata.name;
        if (inside) yield [resource, object];
      }
    }
  }
}

function holdsOthers(served: ServedResource): boolean {
  return served.storedAs === "namespaces" || isDefinition(served);
}

function hasForeignFinalizer({ metadata }: WireObject): boolean {
  return (metadata.finalizers ?? []).some((finalizer) => finalizer !== cleanupFinalizer);
}
