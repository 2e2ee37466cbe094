/** How one run over a key ended. Waiting is no failure: no backoff, no error in the log. */
export type Outcome =
  | { readonly kind: "done" }
  | { readonly kind: "waiting"; readonly reason: string; readonly afterMs: number }
  | { readonly kind: "failed"; readonly error: Error };

export const done: Outcome = { kind: "done" };

export function waiting(reason: string, afterMs: number): Outcome {
  return { kind: "waiting", reason, afterMs };
}

export function failed(error: Error): Outcome {
  return { kind: "failed", error };
}
