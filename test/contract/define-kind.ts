import { type CrdObject, customResourceDefinitions, isEstablished } from "../../src/api/crd.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import { isKubeError } from "../../src/kube/errors.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import type { Resource } from "../../src/kube/resource.ts";
import { eventually } from "../support/eventually.ts";

/** An object of a kind that a definition made. */
export interface CustomObject extends KubeObject {
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

interface DefinitionSpec {
  readonly group: string;
  readonly scope: "Namespaced" | "Cluster";
  readonly names: { readonly plural: string; readonly kind: string };
  readonly versions: readonly { readonly name: string; readonly storage: boolean }[];
}

/** Creates the definition if there is none of its name and resolves when the server serves its storage version. */
export async function defineKind(client: KubeClient, definition: CrdObject): Promise<Resource<CustomObject>> {
  const resource = resourceOf(definition);
  await client.create(customResourceDefinitions, definition).catch((error: unknown) => {
    if (!isKubeError(error, "already-exists")) throw error;
  });
  await eventually(async () => {
    const live = await client.get(customResourceDefinitions, { name: definition.metadata.name });
    if (!isEstablished(live)) throw new Error("the definition is not established");
    await client.list(resource, { limit: 1 });
  });
  return resource;
}

export function resourceOf(definition: CrdObject): Resource<CustomObject> {
  const { group, scope, names, versions } = definition.spec as DefinitionSpec;
  const version = versions.find(({ storage }) => storage)?.name ?? "";
  return { group, version, plural: names.plural, kind: names.kind, namespaced: scope === "Namespaced" };
}
