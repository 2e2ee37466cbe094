import { sameJson } from "../api/same-json.ts";
import { keyOf, type ObjectRef } from "../kube/object.ts";
import { apiVersionOf } from "../kube/resource.ts";
import type { Catalogue } from "./catalogue.ts";
import { Collection } from "./collection.ts";
import { isDefinition, servedBy } from "./crd.ts";
import { isReleased, markedForDeletion } from "./deletion.ts";

import { checkPreconditions, checkUid, checkVersion, type Preconditions } from "./preconditions.ts";
import { prepareCreate, prepareUpdate } from "./prepare.ts";
import { type Random, randomSuffix, randomUid } from "./random.ts";
import type { ServedResource } from "./served-resource.ts";
import { alreadyExists, forbidden, notFound, plainFailure, type StatusError } from "./status.ts";
import { Termination } from "./termination.ts";
import { type WireObject, withMeta, withoutMeta } from "./wire-object.ts";

export interface ObjectStoreOptions {
  readonly catalogue: Catalogue;
  readonly random: Random;
  readonly now: () => Date;
  /** How many changes of each resource are remembered for watches. */
  readonly historyLimit: number;
}

export interface WriteOptions {
  readonly subresource?: string | undefined;
  /** The object comes from a patch: its uid is content, not a precondition. */
  readonly patch?: boolean;
  readonly dryRun?: boolean;
}

export interface RemoveOptions extends Preconditions {
  readonly graceSeconds?: number | undefined;
  readonly dryRun?: boolean;
}

export interface Removed {
  readonly object: WireObject;
  /** False while finalizers or a grace period hold the object. */
  readonly gone: boolean;
}

const namespaces = { group: "", plural: "namespaces" };
const immortalNamespaces: readonly string[] = ["default", "kube-system", "kube-public"];

/** All objects of a cluster and the rules of changing them. One counter of revisions for everything. */
export class ObjectStore {
  readonly catalogue: Catalogue;
  readonly #options: ObjectStoreOptions;
  readonly #collections = new Map<string, Collection>();
  readonly #termination = new Termination(this);
  #revision = 1;

  constructor(options: ObjectStoreOptions) {
    this.#options = options;
    this.catalogue = options.catalogue;
  }

  get revision(): number {
    return this.#revision;
  }

  collection(storedAs: string): Collection {
    const existing = this.#collections.get(storedAs);
    if (existing) return existing;
    const created = new Collection(this.#options.historyLimit);
    this.#collections.set(storedAs, created);
    return created;
  }

  /** What is stored, or `NotFound`. */
  get(served: ServedResource, ref: ObjectRef): WireObject {
    const found = this.collection(served.storedAs).get(keyOf(ref));
    if (!found) throw notFound(served, ref.name);
    return found;
  }

  /** An object that has no namespace, or undefined when there is none. */
  find(served: ServedResource, name: string): WireObject | undefined {
    return this.collection(served.storedAs).get(name);
  }

  create(served: ServedResource, object: WireObject, options: WriteOptions = {}): WireObject {
    if (object.metadata.resourceVersion) throw versionOnCreate();
    if (served.namespaced) this.#requireLivingNamespace(served, object);
    const birth = { uid: randomUid(this.#options.random), now: this.#options.now() };
    const next = prepareCreate(served, this.#named(object), birth);
    if (this.collection(served.storedAs).get(keyOf(next.metadata))) throw alreadyExists(served, next.metadata.name);
    return options.dryRun ? next : this.#put(served, next);
  }

  /** PUT: `created` says that the object did not exist. */
  update(
    served: ServedResource,
    object: WireObject,
    options: WriteOptions = {},
  ): { readonly object: WireObject; readonly created: boolean } {
    const previous = this.collection(served.storedAs).get(keyOf(object.metadata));
    if (!previous) {
      if (!served.rules.createOnUpdate || options.subresource) throw notFound(served, object.metadata.name);
      return { object: this.create(served, withoutMeta(object, "resourceVersion"), options), created: true };
    }
    if (!options.patch) checkUid(served, object, previous);
    checkVersion(served, object, previous);
    const next = prepareUpdate(served, { object, previous, subresource: options.subresource });
    if (options.dryRun || sameJson(next, previous)) return { object: next, created: false };
    if (isReleased(next)) {
      this.drop(served, previous);
      return { object: next, created: false };
    }
    const stored = this.#put(served, next);
    if (stored.metadata.deletionTimestamp) this.#termination.settle();
    return { object: stored, created: false };
  }

  remove(served: ServedResource, ref: ObjectRef, options: RemoveOptions = {}): Removed {
    const object = this.get(served, ref);
    checkPreconditions(served, object, options);
    if (served.storedAs === "namespaces" && immortalNamespaces.includes(ref.name)) {
      throw forbidden(served, ref.name, "this namespace may not be deleted");
    }
    const marked = markedForDeletion(served, object, {
      now: this.#options.now(),
      requestedSeconds: options.graceSeconds,
    });
    if (options.dryRun) return { object, gone: marked === undefined };
    if (!marked) return { object: this.drop(served, object), gone: true };
    const stored = marked === object ? object : this.#put(served, marked);
    this.#termination.begin(served, stored);
    return { object: stored, gone: false };
  }

  /** Takes an object away whatever holds it. */
  drop(served: ServedResource, object: WireObject): WireObject {
    this.#revision += 1;
    const last = withMeta(object, { resourceVersion: String(this.#revision) });
    this.collection(served.storedAs).remove(last, this.#revision);
    if (isDefinition(served)) this.#stopServing(object.metadata.name);
    this.#termination.settle();
    return last;
  }

  /** Every stored resource with its objects. */
  *everything(): Generator<readonly [ServedResource, readonly WireObject[]]> {
    for (const [storedAs, collection] of [...this.#collections]) {
      const [served] = this.catalogue.versionsOf(storedAs);
      if (served) yield [served, collection.all()];
    }
  }

  /** Forgets the past: every older resourceVersion is too old from now on. */
  compact(): void {
    this.#revision += 1;
    for (const served of this.catalogue.all()) this.collection(served.storedAs).history.compact(this.#revision);
  }

  #put(served: ServedResource, object: WireObject): WireObject {
    this.#revision += 1;
    const stored = withMeta(object, { resourceVersion: String(this.#revision) });
    if (isDefinition(served)) this.catalogue.setCustom(object.metadata.name, servedBy(stored));
    this.collection(served.storedAs).put(stored, this.#revision);
    return stored;
  }

  #stopServing(storedAs: string): void {
    this.catalogue.removeCustom(storedAs);
    this.#collections.get(storedAs)?.history.close();
    this.#collections.delete(storedAs);
  }

  #named(object: WireObject): WireObject {
    const { name, generateName } = object.metadata;
    if (name || !generateName) return object;
    return withMeta(object, { name: generateName + randomSuffix(this.#options.random) });
  }

  #requireLivingNamespace(served: ServedResource, { metadata }: WireObject): void {
    const namespace = this.collection("namespaces").get(metadata.namespace ?? "");
    if (!namespace) throw notFound(namespaces, metadata.namespace ?? "");
    if (!namespace.metadata.deletionTimestamp) return;
    const why = `unable to create new content in namespace ${metadata.namespace} because it is being terminated`;
    throw forbidden(served, metadata.name, why);
  }
}

/** A stored object as one of its versions or views shows it. */
export function present(served: ServedResource, stored: WireObject): WireObject {
  if (served.toWire) return served.toWire(stored);
  const apiVersion = apiVersionOf(served);
  return stored.apiVersion === apiVersion ? stored : { ...stored, apiVersion };
}

function versionOnCreate(): StatusError {
  return plainFailure(500, "resourceVersion should not be set on objects to be created");
}
