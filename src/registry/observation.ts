import type { UnknownReason } from "../core/reasons.ts";
import type { Observation } from "../core/world.ts";
import type { Knowledge } from "../kube/knowledge.ts";

/** What an informer holds, and whether it counts. `notFound` is what a missing type means. */
export function observation<T>(knowledge: Knowledge, items: readonly T[], notFound?: UnknownReason): Observation<T> {
  if (knowledge.state === "known") return { state: "known", items };
  const reason = unknownReason(knowledge.reason, notFound);
  return knowledge.error ? { state: "unknown", reason, detail: knowledge.error.fault } : { state: "unknown", reason };
}

function unknownReason(reason: string, notFound: UnknownReason = "Unreachable"): UnknownReason {
  if (reason === "not-yet-listed") return "Connecting";
  if (reason === "unauthorized") return "Unauthorized";
  if (reason === "forbidden") return "Forbidden";
  return reason === "not-found" ? notFound : "Unreachable";
}
