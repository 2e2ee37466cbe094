import { present } from "./object-store.ts";
import type { ServedResource } from "./served-resource.ts";
import type { WireObject } from "./wire-object.ts";

export interface TableOptions {
  readonly now: Date;
  /** What each row carries beside its cells. */
  readonly include: "Metadata" | "Object" | "None";
  readonly metadata: unknown;
  readonly headers?: boolean;
}

/** The objects as `kubectl get` prints them. */
export function tableOf(served: ServedResource, objects: readonly WireObject[], options: TableOptions): unknown {
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata: options.metadata,
    columnDefinitions: options.headers === false ? null : definitionsOf(served),
    rows: objects.map((object) => ({
      cells: served.columns.map((column) => column.value(object, options.now)),
      ...rowObject(served, object, options.include),
    })),
  };
}

function definitionsOf({ columns }: ServedResource): readonly object[] {
  return columns.map(({ name, type, format = "", description = "", priority }) => ({
    name,
    type,
    format,
    description,
    priority,
  }));
}

function rowObject(served: ServedResource, object: WireObject, include: TableOptions["include"]): object {
  if (include === "None") return {};
  return { object: include === "Object" ? present(served, object) : metadataOnly(object) };
}

export function metadataOnly(object: WireObject): WireObject {
  return { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: object.metadata };
}
