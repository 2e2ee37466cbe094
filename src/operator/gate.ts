import type { KubeClient } from "../kube/client.ts";
import { isKubeError } from "../kube/errors.ts";
import { aroundWrites } from "./around-writes.ts";

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
  return aroundWrites(client, ({ call }, perform) => {
    const mayWrite = gate.mayWrite(call?.deadlineMs ?? defaultDeadlineMs);
    return mayWrite ? perform() : Promise.reject(new NotLeading("not leading"));
  });
}

/** Why a write did not happen, in a word. What is not a refusal is a bug, and thrown again. */
export function refusalOf(error: unknown): string {
  if (error instanceof NotLeading) return "not leading";
  if (isKubeError(error)) return error.kind;
  throw error;
}
