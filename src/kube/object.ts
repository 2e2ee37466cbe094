/** The parts of a Kubernetes object that this layer relies on. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly generateName?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
}

export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
}

/** One page of a list. `continue` is set while there are more pages. */
export interface KubeList<T extends KubeObject> {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly T[];
}

/** Names one object. `namespace` is absent for cluster-scoped resources. */
export interface ObjectRef {
  readonly name: string;
  readonly namespace?: string;
}

/** The store key of an object: `namespace/name`, or the name alone when it has no namespace. */
export function keyOf(ref: ObjectRef): string {
  return ref.namespace ? `${ref.namespace}/${ref.name}` : ref.name;
}
