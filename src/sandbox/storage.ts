import type { KubeObject, ObjectRef } from "../kube/object.ts";
import type { Resource } from "../kube/resource.ts";
import { cloneJson, type JsonMap, mapOf } from "./json.ts";
import { mergePatched } from "./merge-patch.ts";
import { type ObjectStore, present, type RemoveOptions } from "./object-store.ts";
import { normalise } from "./prepare.ts";
import { selectorOf } from "./selectors.ts";
import type { ServedResource } from "./served-resource.ts";
import { notFound } from "./status.ts";
import type { WireObject } from "./wire-object.ts";

export interface StorageListOptions {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface StorageWriteOptions {
  readonly subresource?: "status";
}

/**
 * Direct reads and writes, by the rules that hold over HTTP. Failures are a `StatusError` with the body that
 * a client would get. What is returned is shared with the store: it must not be changed.
 */
export class Storage {
  readonly #store: ObjectStore;

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  /** The version of the last change. */
  get resourceVersion(): string {
    return String(this.#store.revision);
  }

  get<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef): T {
    const served = this.#served(resource);
    return asTyped(present(served, this.#store.get(served, ref)));
  }

  /** The object, or undefined when there is none. */
  find<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef): T | undefined {
    const served = this.#served(resource);
    const key = ref.namespace ? `${ref.namespace}/${ref.name}` : ref.name;
    const found = this.#store.collection(served.storedAs).get(key);
    return found && asTyped<T>(present(served, found));
  }

  list<T extends KubeObject>(resource: Resource<T>, options: StorageListOptions = {}): readonly T[] {
    const served = this.#served(resource);
    const selects = selectorOf(served, options);
    const stored = this.#store.collection(served.storedAs).all();
    return stored.filter(selects).map((object) => asTyped<T>(present(served, object)));
  }

  create<T extends KubeObject>(resource: Resource<T>, object: T): T {
    const served = this.#served(resource);
    return asTyped(present(served, this.#store.create(served, wire(served, object))));
  }

  update<T extends KubeObject>(resource: Resource<T>, object: T, options: StorageWriteOptions = {}): T {
    const served = this.#served(resource);
    return asTyped(present(served, this.#store.update(served, wire(served, object), options).object));
  }

  /** JSON merge patch. */
  patch<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, mergePatch: unknown): T {
    return this.#patch(resource, ref, { mergePatch });
  }

  patchStatus<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, mergePatch: unknown): T {
    return this.#patch(resource, ref, { mergePatch, subresource: "status" });
  }

  delete(resource: Resource, ref: ObjectRef, options: RemoveOptions = {}): void {
    this.#store.remove(this.#served(resource), ref, options);
  }

  #patch<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    change: { readonly mergePatch: unknown } & StorageWriteOptions,
  ): T {
    const served = this.#served(resource);
    const current = present(served, this.#store.get(served, ref));
    const next = mergePatched(current, cloneJson(change.mergePatch)) as JsonMap;
    const { object } = normalise(served, next);
    return asTyped(present(served, this.#store.update(served, object, change).object));
  }

  #served({ group, version, plural }: Resource): ServedResource {
    const served = this.#store.catalogue.find(group, version, plural);
    if (!served) throw notFound({ group, plural }, "");
    return served;
  }
}

function wire(served: ServedResource, object: KubeObject): WireObject {
  return normalise(served, mapOf(cloneJson(object))).object;
}

function asTyped<T extends KubeObject>(object: WireObject): T {
  return object as unknown as T;
}
