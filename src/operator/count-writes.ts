import type { KubeClient } from "../kube/client.ts";
import { isKubeError, type Verb } from "../kube/errors.ts";
import { aroundWrites, type Write } from "./around-writes.ts";
import { NotLeading } from "./gate.ts";

/** One write, as the API saw it or did not. */
export interface WriteCall {
  /** As RBAC writes it: `peers.kilo.squat.ai`, `clustermeshes.kilo.squat.ai/status`. */
  readonly resource: string;
  readonly verb: Verb;
  /** `written`, the kind of the refusal, `not-leading`, `aborted` when we gave up ourselves, or `bug`. */
  readonly outcome: string;
}

/** The client, with every write told. Reads are not: in steady state there are none. */
export function countingWrites(client: KubeClient, onWrite: (write: WriteCall) => void): KubeClient {
  return aroundWrites(client, async (write, perform) => {
    const told = { resource: nameOf(write), verb: write.verb };
    try {
      const answer = await perform();
      onWrite({ ...told, outcome: "written" });
      return answer;
    } catch (error) {
      onWrite({ ...told, outcome: outcomeOf(error) });
      throw error;
    }
  });
}

function nameOf({ resource: { plural, group }, subresource }: Write): string {
  return `${plural}${group === "" ? "" : `.${group}`}${subresource ? `/${subresource}` : ""}`;
}

function outcomeOf(error: unknown): string {
  if (isKubeError(error)) return error.kind;
  if (error instanceof NotLeading) return "not-leading";
  return error instanceof Error && error.name === "AbortError" ? "aborted" : "bug";
}
