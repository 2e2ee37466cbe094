import type { KubeClient } from "../kube/client.ts";
import { isKubeError, type Verb } from "../kube/errors.ts";
import type { Resource } from "../kube/resource.ts";
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
  const told = async <T>(verb: Verb, resource: string, write: Promise<T>): Promise<T> => {
    try {
      const answer = await write;
      onWrite({ resource, verb, outcome: "written" });
      return answer;
    } catch (error) {
      onWrite({ resource, verb, outcome: outcomeOf(error) });
      throw error;
    }
  };
  return {
    cluster: client.cluster,
    get: (resource, ref, call) => client.get(resource, ref, call),
    list: (resource, list) => client.list(resource, list),
    watch: (resource, watch) => client.watch(resource, watch),
    close: () => client.close(),
    create: (resource, object, call) => told("create", nameOf(resource), client.create(resource, object, call)),
    replace: (resource, object, write) =>
      told("replace", nameOf(resource, write?.subresource), client.replace(resource, object, write)),
    patch: (resource, ref, change) =>
      told("patch", nameOf(resource, change.subresource), client.patch(resource, ref, change)),
    delete: (resource, ref, deletion) => told("delete", nameOf(resource), client.delete(resource, ref, deletion)),
  };
}

function nameOf({ plural, group }: Resource, subresource?: string): string {
  return `${plural}${group === "" ? "" : `.${group}`}${subresource ? `/${subresource}` : ""}`;
}

function outcomeOf(error: unknown): string {
  if (isKubeError(error)) return error.kind;
  if (error instanceof NotLeading) return "not-leading";
  return error instanceof Error && error.name === "AbortError" ? "aborted" : "bug";
}
