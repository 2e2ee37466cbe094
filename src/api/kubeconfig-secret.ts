import type { KubeObject } from "../kube/object.ts";
import { type Resource, secrets as untyped } from "../kube/resource.ts";

export interface SecretObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

export const secrets: Resource<SecretObject> = untyped;

/** The data of a Secret, still in base64. It never goes into a log, a status or an error. */
export type SecretData = Readonly<Record<string, string>>;

export const readSecret = ({ data }: SecretObject): SecretData => data ?? {};

export function sameSecretData(a: SecretData, b: SecretData): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}

/** Undefined when the Secret has no such key, or it is empty. Whoever writes a mesh chooses the key: it may be any text. */
export function kubeconfigText(data: SecretData, key: string): string | undefined {
  const encoded: unknown = Object.hasOwn(data, key) ? data[key] : undefined;
  return typeof encoded === "string" && encoded !== "" ? Buffer.from(encoded, "base64").toString("utf8") : undefined;
}
