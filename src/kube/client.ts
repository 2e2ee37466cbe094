import type { KubeList, KubeObject, ObjectRef } from "./object.ts";
import type { Resource } from "./resource.ts";

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** The whole call, body included, ends by then with a `timeout`. Default 10 s. */
  readonly deadlineMs?: number;
}

export interface ListOptions extends CallOptions {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly limit?: number;
  readonly continue?: string;
  /** Absent: a quorum read. */
  readonly resourceVersion?: string;
}

export interface WatchOptions {
  readonly signal: AbortSignal;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly resourceVersion: string;
  /** How long the server is asked to keep the stream open. */
  readonly timeoutSeconds: number;
  /** The answer's headers must arrive by then. Default 10 s. */
  readonly deadlineMs?: number;
}

export interface DeleteOptions extends CallOptions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

export interface WriteOptions extends CallOptions {
  readonly subresource?: "status";
}

/**
 * What the rest of the program may do with one Kubernetes API. Every failure is a `KubeError`; a call or stream that
 * the caller's own signal ends rejects with the signal's reason.
 */
export interface KubeClient {
  readonly cluster: string;
  /** Connects now and not with the first call, which meets whatever goes wrong. */
  open(): void;
  get<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, options?: CallOptions): Promise<T>;
  /** One page; the caller follows `metadata.continue`. */
  list<T extends KubeObject>(resource: Resource<T>, options?: ListOptions): Promise<KubeList<T>>;
  /** The raw chunks of a watch stream, from the moment the server accepted it. Ends cleanly when the server ends it. */
  watch(resource: Resource, options: WatchOptions): Promise<AsyncIterable<Uint8Array>>;
  create<T extends KubeObject>(resource: Resource<T>, object: T, options?: CallOptions): Promise<T>;
  /** PUT. With `metadata.resourceVersion` set, a stale one is a `conflict`. */
  replace<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T>;
  /** JSON merge patch. */
  patch<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, change: MergePatch): Promise<T>;
  delete(resource: Resource, ref: ObjectRef, options?: DeleteOptions): Promise<void>;
  /** Ends every open call and stream. */
  close(): void;
}

export interface MergePatch extends WriteOptions {
  readonly body: unknown;
}
