import type { Logger } from "./log.ts";
import { failed, type Outcome } from "./outcome.ts";
import type { WorkQueue } from "./queue.ts";

export interface ControllerOptions<Key extends string> {
  readonly name: string;
  readonly queue: WorkQueue<Key>;
  readonly reconcile: (key: Key, signal: AbortSignal) => Promise<Outcome>;
  readonly log: Logger;
  /** Told after every run, for metrics. */
  readonly onOutcome?: (key: Key, outcome: Outcome) => void;
  /** Told of every exception: a bug, since what the world refuses is an outcome. */
  readonly onBug?: (key: Key, error: unknown) => void;
}

/**
 * Works the queue off: key → reconcile → outcome → queue. The only place that catches everything: a bug in one key costs
 * that key a backoff, and the others nothing.
 */
export function runController<Key extends string>(options: ControllerOptions<Key>): void {
  const log = options.log.with({ controller: options.name });
  options.queue.start(async (key, signal) => {
    const outcome = await reconcileSafely(key, signal, { ...options, log });
    if (signal.aborted) return;
    settle(key, outcome, { ...options, log });
    quietly(log, () => options.onOutcome?.(key, outcome));
  });
}

async function reconcileSafely<Key extends string>(
  key: Key,
  signal: AbortSignal,
  { reconcile, log, onBug }: ControllerOptions<Key>,
): Promise<Outcome> {
  try {
    return await reconcile(key, signal);
  } catch (error) {
    if (signal.aborted) return failed(asError(error));
    log.error("bug", { key, stack: stackOf(error) });
    quietly(log, () => onBug?.(key, error));
    return failed(asError(error));
  }
}

function settle<Key extends string>(key: Key, outcome: Outcome, { queue, log }: ControllerOptions<Key>): void {
  switch (outcome.kind) {
    case "done":
      queue.forget(key);
      return;
    case "waiting":
      queue.forget(key);
      queue.addAfter(key, outcome.afterMs);
      log.debug("waiting", { key, reason: outcome.reason, afterMs: outcome.afterMs });
      return;
    case "failed":
      log.warn("failed", { key, error: outcome.error.message, retryMs: queue.retry(key) });
  }
}

function quietly(log: Logger, tell: () => void): void {
  try {
    tell();
  } catch (error) {
    log.error("bug in an observer", { stack: stackOf(error) });
  }
}

function stackOf(error: unknown): string | undefined {
  return error instanceof Error ? error.stack : String(error);
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
