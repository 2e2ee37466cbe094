import { setTimeout as delay } from "node:timers/promises";

export interface Patience {
  readonly withinMs?: number;
  readonly everyMs?: number;
  readonly message?: string;
}

/** Repeats `check` until it does not throw, and returns its answer. Real time: what it waits for is real. */
export async function eventually<T>(check: () => T | Promise<T>, patience: Patience = {}): Promise<T> {
  const { withinMs = 30_000, everyMs = 20, message = "it did not happen" } = patience;
  const end = performance.now() + withinMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() >= end)
        throw new Error(`${message} within ${withinMs} ms: ${textOf(error)}`, { cause: error });
    }
    await delay(everyMs);
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
