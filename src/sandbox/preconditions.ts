import { keyOf } from "../kube/object.ts";
import { invalidValue } from "./field-problem.ts";
import type { ServedResource } from "./served-resource.ts";
import { conflict, invalid, plainFailure } from "./status.ts";
import type { WireObject } from "./wire-object.ts";

/** What an object must be for a deletion to go on. */
export interface Preconditions {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

const optimisticLock = "the object has been modified; please apply your changes to the latest version and try again";

export function checkUid(served: ServedResource, { metadata }: WireObject, previous: WireObject): void {
  if (!metadata.uid || metadata.uid === previous.metadata.uid) return;
  const key = `/registry/${served.storedAs}/${keyOf(metadata)}`;
  const error = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0`;
  const uids = `UID in precondition: ${metadata.uid}, UID in object meta: ${previous.metadata.uid}`;
  throw conflict(served, metadata.name, `${error}, AdditionalErrorMsg: Precondition failed: ${uids}`);
}

export function checkVersion(served: ServedResource, object: WireObject, previous: WireObject): void {
  const { name, resourceVersion } = object.metadata;
  if (resourceVersion && !/^\d+$/.test(resourceVersion)) {
    throw plainFailure(500, `strconv.ParseUint: parsing ${JSON.stringify(resourceVersion)}: invalid syntax`);
  }
  if (resourceVersion === previous.metadata.resourceVersion) return;
  if (resourceVersion && resourceVersion !== "0") throw conflict(served, name, optimisticLock);
  if (served.rules.unconditionalUpdate) return;
  const problem = invalidValue("metadata.resourceVersion", 0, "must be specified for an update");
  throw invalid({ group: served.group, kind: served.plural }, name, [problem]);
}

export function checkPreconditions(served: ServedResource, { metadata }: WireObject, options: Preconditions): void {
  const resource = { group: served.group, plural: served.kind };
  if (options.uid !== undefined && options.uid !== metadata.uid) {
    const record = `does not match the UID in record (${metadata.uid})`;
    const why = `the UID in the precondition (${options.uid}) ${record}. The object might have been deleted and then recreated`;
    throw conflict(resource, metadata.name, why);
  }
  if (options.resourceVersion !== undefined && options.resourceVersion !== metadata.resourceVersion) {
    const record = `does not match the ResourceVersion in record (${metadata.resourceVersion})`;
    const why = `the ResourceVersion in the precondition (${options.resourceVersion}) ${record}. The object might have been modified`;
    throw conflict(resource, metadata.name, why);
  }
}
