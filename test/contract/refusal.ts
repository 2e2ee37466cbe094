import { isKubeError, type KubeError } from "../../src/kube/errors.ts";

/** The error that the server's refusal becomes; an answer, or another error, is a failure of the case. */
export async function refusal(call: Promise<unknown>): Promise<KubeError> {
  const outcome = await call.then(
    (answer) => ({ answer }),
    (error: unknown) => ({ error }),
  );
  if ("error" in outcome && isKubeError(outcome.error)) return outcome.error;
  if ("error" in outcome) throw outcome.error;
  throw new Error(`expected a refusal, got ${JSON.stringify(outcome.answer)}`);
}

/**
 * The fields that the refusal names, sorted, each once: a server may say of one field two things. One that stops
 * checking says so in a cause of the field `<nil>`, which is none.
 */
export async function refusedFields(call: Promise<unknown>): Promise<string[]> {
  const { kind, causes } = await refusal(call);
  if (kind !== "invalid") throw new Error(`expected invalid, got ${kind}`);
  const fields = new Set(causes.map(({ field }) => field));
  return [...fields].filter((field) => field !== "<nil>").sort();
}
