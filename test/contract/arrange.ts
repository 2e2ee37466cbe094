import { randomBytes } from "node:crypto";
import type { KubeObject } from "../../src/kube/object.ts";
import { configMaps, namespaces, type Resource, secrets as untypedSecrets } from "../../src/kube/resource.ts";
import type { ContractServer } from "./contract-server.ts";
import type { CustomObject } from "./define-kind.ts";
import { widgetDefinition } from "./widget-definition.ts";

export interface ConfigMapObject extends KubeObject {
  readonly immutable?: boolean;
  readonly data?: Readonly<Record<string, string>>;
}

export interface SecretObject extends KubeObject {
  readonly type?: string;
  readonly immutable?: boolean;
  readonly data?: Readonly<Record<string, string>>;
  readonly stringData?: Readonly<Record<string, string>>;
}

export const maps: Resource<ConfigMapObject> = configMaps;
export const secrets: Resource<SecretObject> = untypedSecrets;

/** A name that no other case has. */
export function unique(prefix: string): string {
  return `${prefix}-${randomBytes(5).toString("hex")}`;
}

/** A fresh namespace, by its name. */
export async function aNamespace({ client }: ContractServer): Promise<string> {
  const { metadata } = await client.create(namespaces, { metadata: { name: unique("case") } });
  return metadata.name;
}

/** The ref and metadata of something in a fresh namespace. */
export async function aPlace(server: ContractServer): Promise<{ readonly namespace: string; readonly name: string }> {
  return { namespace: await aNamespace(server), name: unique("thing") };
}

/** A stored ConfigMap in a fresh namespace. */
export async function aMap(server: ContractServer, data: ConfigMapObject["data"] = { key: "one" }) {
  return server.client.create(maps, { metadata: await aPlace(server), data });
}

export interface Widgets {
  readonly widgets: Resource<CustomObject>;
  readonly place: { readonly namespace: string; readonly name: string };
}

/** The Widget kind and a place for one. */
export async function widgetPlace(server: ContractServer): Promise<Widgets> {
  return { widgets: await server.kind(widgetDefinition()), place: await aPlace(server) };
}

/** A stored Widget in a fresh namespace, and its kind. */
export async function aWidget(server: ContractServer, spec: Readonly<Record<string, unknown>> = { size: 1 }) {
  const { widgets, place } = await widgetPlace(server);
  const widget = await server.client.create(widgets, { metadata: place, spec });
  return { widgets, place, widget };
}

/** Several ConfigMaps in a fresh namespace, named as said. */
export async function mapsNamed(server: ContractServer, names: readonly string[]): Promise<string> {
  const namespace = await aNamespace(server);
  for (const name of names) await server.client.create(maps, { metadata: { name, namespace } });
  return namespace;
}

export function namesOf({ items }: { readonly items: readonly KubeObject[] }): string[] {
  return items.map(({ metadata }) => metadata.name);
}
