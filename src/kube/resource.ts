import type { KubeObject, ObjectRef } from "./object.ts";

/** A kind of object and where the API serves it. `T` is what its objects look like on the wire. */
export interface Resource<T extends KubeObject = KubeObject> {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Never set: it carries `T` for the type checker. */
  readonly __object?: T;
}

export function apiVersionOf(resource: Resource): string {
  return resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
}

/** As RBAC and people write it. */
export const resourceText = ({ group, plural }: Resource): string => (group === "" ? plural : `${plural}.${group}`);

/** The path of a collection; without `namespace` that of all namespaces. */
export function collectionPath(resource: Resource, namespace?: string): string {
  const root = resource.group === "" ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  const scope = resource.namespaced && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : "";
  return `${root}${scope}/${resource.plural}`;
}

/** The path of one object. Throws on a name or namespace that would lead to another place, such as the collection. */
export function objectPath(resource: Resource, ref: ObjectRef, subresource?: string): string {
  if (/^$|^\.\.?$|[/%]/.test(ref.name))
    throw new Error(`not the name of a ${resource.kind}: ${JSON.stringify(ref.name)}`);
  if (resource.namespaced && !ref.namespace) throw new Error(`${resource.kind} ${ref.name} needs a namespace`);
  const tail = subresource ? `/${subresource}` : "";
  return `${collectionPath(resource, ref.namespace)}/${encodeURIComponent(ref.name)}${tail}`;
}

const builtIn = <T extends KubeObject = KubeObject>(
  [group, version, plural]: readonly [string, string, string],
  kind: string,
  namespaced: boolean,
): Resource<T> => ({ group, version, plural, kind, namespaced });

export const nodes = builtIn(["", "v1", "nodes"], "Node", false);
export const namespaces = builtIn(["", "v1", "namespaces"], "Namespace", false);
export const secrets = builtIn(["", "v1", "secrets"], "Secret", true);
export const configMaps = builtIn(["", "v1", "configmaps"], "ConfigMap", true);
export const events = builtIn(["events.k8s.io", "v1", "events"], "Event", true);
export const leases = builtIn(["coordination.k8s.io", "v1", "leases"], "Lease", true);
export const customResourceDefinitions = builtIn(
  ["apiextensions.k8s.io", "v1", "customresourcedefinitions"],
  "CustomResourceDefinition",
  false,
);
