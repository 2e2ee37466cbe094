import type { Clock } from "./clock.ts";

export interface Deadline {
  readonly clock: Clock;
  readonly ms: number;
  /** Ends the work early; the caller sees the signal's reason. */
  readonly signal?: AbortSignal;
}

export class DeadlineError extends Error {
  override readonly name = "DeadlineError";

  constructor(ms: number) {
    super(`not done within ${ms} ms`);
  }
}

/**
 * Runs `work` and stops waiting for it at the deadline or at the abort, even when it ignores the signal it was
 * given. Leaves no timer behind.
 */
export async function withDeadline<T>(deadline: Deadline, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { clock, ms, signal } = deadline;
  const inner = new AbortController();
  const over = new AbortController();
  const forward = () => inner.abort(signal?.reason);
  signal?.addEventListener("abort", forward, { once: true });
  if (signal?.aborted) forward();
  const cut = new Promise<never>((_, reject) => {
    inner.signal.addEventListener("abort", () => reject(inner.signal.reason), { once: true });
    if (inner.signal.aborted) reject(inner.signal.reason);
  });
  clock.sleep(ms, over.signal).then(
    () => inner.abort(new DeadlineError(ms)),
    () => undefined,
  );
  try {
    return await Promise.race([cut, work(inner.signal)]);
  } finally {
    over.abort();
    signal?.removeEventListener("abort", forward);
  }
}
