import type { CallOptions, KubeClient } from "../../src/kube/client.ts";
import { KubeError, type KubeErrorKind } from "../../src/kube/errors.ts";
import type { LeaseObject } from "../../src/kube/lease-record.ts";
import type { KubeObject } from "../../src/kube/object.ts";

/** One Lease as an API server keeps it, for as many clients as a test wants. */
export class LeaseServer {
  lease: LeaseObject | undefined;
  readonly writes: LeaseObject[] = [];
  #version = 0;

  read(): LeaseObject {
    if (!this.lease) throw aFailure("not-found");
    return this.lease;
  }

  create(lease: LeaseObject): LeaseObject {
    if (this.lease) throw aFailure("already-exists");
    return this.#store(lease);
  }

  replace(lease: LeaseObject): LeaseObject {
    if (lease.metadata.resourceVersion !== this.lease?.metadata.resourceVersion) throw aFailure("conflict");
    return this.#store(lease);
  }

  /** What somebody else does to it. */
  change(spec: LeaseObject["spec"]): void {
    this.#store({ metadata: { name: "lease", namespace: "ns" }, ...this.lease, ...(spec && { spec }) });
  }

  #store(lease: LeaseObject): LeaseObject {
    this.lease = { ...lease, metadata: { ...lease.metadata, resourceVersion: String(++this.#version) } };
    this.writes.push(this.lease);
    return this.lease;
  }
}

/** What stands between a client and the server. `cut` fails at once, `hang` never answers, `deaf` acts and never answers. */
export type Line = "fine" | "cut" | "hang" | "deaf";

export function leaseClient(server: LeaseServer, line: { state: Line }): KubeClient {
  const call = async (act: () => LeaseObject, options?: CallOptions): Promise<LeaseObject> => {
    if (line.state === "cut") throw aFailure("unreachable");
    if (line.state === "hang") return hang(options?.signal);
    const answer = act();
    return line.state === "deaf" ? hang(options?.signal) : answer;
  };
  const client = {
    cluster: "local",
    get: (_: unknown, __: unknown, options?: CallOptions) => call(() => server.read(), options),
    create: (_: unknown, lease: KubeObject, options?: CallOptions) => call(() => server.create(lease), options),
    replace: (_: unknown, lease: KubeObject, options?: CallOptions) => call(() => server.replace(lease), options),
  };
  return client as unknown as KubeClient;
}

function hang(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(aFailure("timeout"))));
}

function aFailure(kind: KubeErrorKind): KubeError {
  return new KubeError({ kind, cluster: "local", verb: "replace", resource: "leases.coordination.k8s.io" });
}
