import type { CallOptions, KubeClient } from "../kube/client.ts";
import { isKubeError } from "../kube/errors.ts";

/** Says whether a write may start that takes at most so long. */
export interface WriteGate {
  mayWrite(deadlineMs: number): boolean;
}

/** For an operator that runs alone, without leader election. */
export const openGate: WriteGate = { mayWrite: () => true };

/** A write was not begun: by the time it ended, somebody else could lead. */
export class NotLeading extends Error {
  override readonly name = "NotLeading";
}

const defaultDeadlineMs = 10_000;

/** The client, with every write behind the gate: one may start only if the lease outlives its deadline. */
export function gated(client: KubeClient, gate: WriteGate): KubeClient {
  const pass = ({ deadlineMs = defaultDeadlineMs }: CallOptions = {}): void => {
    if (!gate.mayWrite(deadlineMs)) throw new NotLeading("not leading");
  };
  return {
    cluster: client.cluster,
    get: (resource, ref, call) => client.get(resource, ref, call),
    list: (resource, list) => client.list(resource, list),
    watch: (resource, watch) => client.watch(resource, watch),
    close: () => client.close(),
    create: async (resource, object, call) => {
      pass(call);
      return client.create(resource, object, call);
    },
    replace: async (resource, object, write) => {
      pass(write);
      return client.replace(resource, object, write);
    },
    patch: async (resource, ref, change) => {
      pass(change);
      return client.patch(resource, ref, change);
    },
    delete: async (resource, ref, deletion) => {
      pass(deletion);
      return client.delete(resource, ref, deletion);
    },
  };
}

/** Why a write did not happen, in a word. What is not a refusal is a bug, and thrown again. */
export function refusalOf(error: unknown): string {
  if (error instanceof NotLeading) return "not leading";
  if (isKubeError(error)) return error.kind;
  throw error;
}
