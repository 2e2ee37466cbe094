import { isDefinition, terminating } from "./crd.ts";
import { mapOf } from "./json.ts";
import { nextGeneration, timestamp } from "./prepare.ts";
import type { ServedResource } from "./served-resource.ts";
import { type WireObject, withMeta } from "./wire-object.ts";

export interface DeletionRequest {
  readonly now: Date;
  /** The grace period that the client asked for. */
  readonly requestedSeconds: number | undefined;
}

/** The object on its way out, itself when it is so already, or undefined when nothing holds it. */
export function markedForDeletion(
  served: ServedResource,
  object: WireObject,
  { now, requestedSeconds }: DeletionRequest,
): WireObject | undefined {
  const grace = served.rules.graceSeconds?.(object, requestedSeconds) ?? 0;
  if (!isHeld(served, object) && grace === 0) return undefined;
  const at = timestamp(new Date(now.getTime() + grace * 1000));
  if (object.metadata.deletionTimestamp) return shortened(object, grace, at);
  if (served.storedAs === "namespaces") return terminatingNamespace(withMeta(object, { deletionTimestamp: at }));
  if (isDefinition(served)) return terminating(withMeta(object, { deletionTimestamp: at }), at);
  return nextGeneration(withMeta(object, { deletionTimestamp: at, deletionGracePeriodSeconds: grace }));
}

/** Nothing holds an object any longer that was marked before. */
export function isReleased({ metadata }: WireObject): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0 && !metadata.finalizers;
}

function isHeld(served: ServedResource, { metadata }: WireObject): boolean {
  const finalizers = metadata.finalizers ?? [];
  return finalizers.length > 0 || served.storedAs === "namespaces" || isDefinition(served);
}

function shortened(object: WireObject, grace: number, at: string): WireObject {
  const before = object.metadata.deletionGracePeriodSeconds ?? 0;
  if (grace >= before) return object;
  return withMeta(object, { deletionTimestamp: at, deletionGracePeriodSeconds: grace });
}

function terminatingNamespace(namespace: WireObject): WireObject {
  return { ...namespace, status: { ...mapOf(namespace.status), phase: "Terminating" } };
}
