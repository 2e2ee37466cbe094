import type { ObjectMeta } from "../kube/object.ts";

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface WireMeta extends ObjectMeta {
  readonly deletionGracePeriodSeconds?: number;
  readonly ownerReferences?: readonly OwnerReference[];
}

/** Any Kubernetes object as it travels and as it is stored. Never changed in place. */
export interface WireObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: WireMeta;
  readonly [field: string]: unknown;
}

export function withMeta(object: WireObject, change: Partial<WireMeta>): WireObject {
  return { ...object, metadata: { ...object.metadata, ...change } };
}

export function withoutMeta(object: WireObject, ...fields: readonly (keyof WireMeta)[]): WireObject {
  const kept = Object.entries(object.metadata).filter(([key]) => !fields.includes(key as keyof WireMeta));
  return { ...object, metadata: Object.fromEntries(kept) as unknown as WireMeta };
}

export function versionOf(object: WireObject): number {
  return Number(object.metadata.resourceVersion ?? 0);
}
