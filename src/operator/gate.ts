import type { KubeClient } from "../kube/client.ts";

/** Every write passes here. A write may start only if the lease outlives its deadline. */
export interface WriteGate {
  mayWrite(deadlineMs: number): boolean;
}

/** For an operator that runs alone, without leader election. */
export const openGate: WriteGate = { mayWrite: () => true };

/** The part of a client that reads and writes one object: what the bootstrap and the status report need. */
export type ObjectClient = Pick<KubeClient, "get" | "create" | "replace" | "patch">;
