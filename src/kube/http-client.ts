import {
  createRequest,
  deleteRequest,
  getRequest,
  listRequest,
  patchRequest,
  replaceRequest,
  watchRequest,
} from "./api-requests.ts";
import type { KubeClient, ListOptions } from "./client.ts";
import { Connection, type ConnectionOptions } from "./connection.ts";
import type { ConnectionConfig } from "./connection-config.ts";
import { type Call, type CallContext, openStream, performCall } from "./http-call.ts";
import type { KubeObject } from "./object.ts";
import { objectIn, pageIn } from "./received.ts";
import type { Resource } from "./resource.ts";

const mebibyte = 1024 * 1024;

export interface ClientOptions extends ConnectionOptions {
  /** How errors call the server. */
  readonly cluster: string;
  readonly userAgent?: string;
  /** Of one page of a list, unpacked: reading it takes some five times as much memory. Default 16 MiB. */
  readonly maxListBytes?: number;
  /** Of any other answer, unpacked. Default 8 MiB. */
  readonly maxObjectBytes?: number;
}

/** A client for the API server of `config`. It connects with the first call, or when it is told to. */
export function createClient(config: ConnectionConfig, options: ClientOptions): KubeClient {
  const { maxListBytes = 16 * mebibyte, maxObjectBytes: maxBytes = 8 * mebibyte } = options;
  const context = contextOf(config, options);
  const perform = <T extends KubeObject>(call: Call) => performCall(context, call, { maxBytes, read: objectIn<T> });
  return {
    cluster: options.cluster,
    open: () => context.transport.open(),
    get: async (resource, ref, call) => perform(getRequest(resource, ref, call)),
    list: async <T extends KubeObject>(resource: Resource<T>, list: ListOptions = {}) =>
      performCall(context, listRequest(resource, list), { maxBytes: maxListBytes, read: pageIn<T> }),
    watch: async (resource, watch) => openStream(context, watchRequest(resource, watch)),
    create: async (resource, object, call) => perform(createRequest(resource, object, call)),
    replace: async (resource, object, write) => perform(replaceRequest(resource, object, write)),
    patch: async (resource, ref, change) => perform(patchRequest(resource, ref, change)),
    delete: async (resource, ref, deletion) => {
      await performCall(context, deleteRequest(resource, ref, deletion), { maxBytes, read: () => true });
    },
    close: () => context.transport.close(),
  };
}

function contextOf(config: ConnectionConfig, options: ClientOptions): CallContext {
  const { pathname } = new URL(config.server);
  const headers = { accept: "application/json", "user-agent": options.userAgent ?? "kilo-clustermesh" };
  return {
    cluster: options.cluster,
    transport: new Connection(config, options),
    pathPrefix: pathname.replace(/\/+$/, ""),
    streamHeaders: headers,
    unaryHeaders: config.compress ? { ...headers, "accept-encoding": "gzip" } : headers,
    token: config.token,
  };
}
