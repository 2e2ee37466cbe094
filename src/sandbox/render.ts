import { apiVersionOf } from "../kube/resource.ts";
import type { Format } from "./negotiation.ts";
import { present } from "./object-store.ts";
import type { ServedResource } from "./served-resource.ts";
import { metadataOnly, type TableOptions, tableOf } from "./table.ts";
import type { WireObject } from "./wire-object.ts";

export interface ListMeta {
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export interface RenderOptions {
  readonly format: Format;
  readonly now: Date;
  readonly include: TableOptions["include"];
  /** False: a table without its column definitions, as all but the first of a watch are. */
  readonly headers?: boolean;
}

/** One object in the form the client asked for. */
export function renderObject(served: ServedResource, stored: WireObject, options: RenderOptions): unknown {
  if (options.format === "partial") return metadataOnly(stored);
  if (options.format !== "table") return present(served, stored);
  const { resourceVersion } = stored.metadata;
  return tableOf(served, [stored], { ...options, metadata: { resourceVersion } });
}

const itemsPerPiece = 256;

/** A list as pieces of JSON text: one string of a large list would be too long for the engine. */
export function* renderList(
  served: ServedResource,
  list: { readonly items: readonly WireObject[]; readonly metadata: ListMeta },
  options: RenderOptions,
): Generator<string> {
  if (options.format === "table") {
    yield `${JSON.stringify(tableOf(served, list.items, { ...options, metadata: list.metadata }))}\n`;
    return;
  }
  const partial = options.format === "partial";
  const kind = partial ? "PartialObjectMetadataList" : served.listKind;
  const apiVersion = partial ? "meta.k8s.io/v1" : apiVersionOf(served);
  const item = partial ? metadataOnly : itemOf(served);
  const metadata = served.custom ? { continue: "", ...list.metadata } : list.metadata;
  yield JSON.stringify({ kind, apiVersion, metadata }).replace(/}$/, ',"items":[');
  for (let start = 0; start < list.items.length; start += itemsPerPiece) {
    const texts = list.items.slice(start, start + itemsPerPiece).map((object) => JSON.stringify(item(object)));
    yield (start === 0 ? "" : ",") + texts.join(",");
  }
  yield "]}\n";
}

/** Items of built-in lists carry no kind and apiVersion of their own. */
function itemOf(served: ServedResource): (stored: WireObject) => unknown {
  if (served.custom) return (stored) => present(served, stored);
  return (stored) => {
    const { kind: _kind, apiVersion: _apiVersion, ...rest } = present(served, stored);
    return rest;
  };
}
