import type { CallOptions, KubeClient } from "../kube/client.ts";
import type { Verb } from "../kube/errors.ts";
import type { Resource } from "../kube/resource.ts";

/** A write that somebody asks for. */
export interface Write {
  readonly verb: Verb;
  readonly resource: Resource;
  readonly subresource?: string | undefined;
  readonly call: CallOptions | undefined;
}

export type Around = <T>(write: Write, perform: () => Promise<T>) => Promise<T>;

/** The client, with something done around every write. Reads pass as they are. */
export function aroundWrites(client: KubeClient, around: Around): KubeClient {
  return {
    cluster: client.cluster,
    open: () => client.open(),
    get: (resource, ref, call) => client.get(resource, ref, call),
    list: (resource, list) => client.list(resource, list),
    watch: (resource, watch) => client.watch(resource, watch),
    close: () => client.close(),
    create: (resource, object, call) =>
      around({ verb: "create", resource, call }, () => client.create(resource, object, call)),
    replace: (resource, object, call) =>
      around({ verb: "replace", resource, subresource: call?.subresource, call }, () =>
        client.replace(resource, object, call),
      ),
    patch: (resource, ref, change) =>
      around({ verb: "patch", resource, subresource: change.subresource, call: change }, () =>
        client.patch(resource, ref, change),
      ),
    delete: (resource, ref, call) =>
      around({ verb: "delete", resource, call }, () => client.delete(resource, ref, call)),
  };
}
