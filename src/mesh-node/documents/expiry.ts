import type { Clock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/log.ts";
import { type Editing, isExpired } from "./edit.ts";

export interface ExpiryOptions {
  readonly editing: () => Editing;
  readonly clock: Clock;
  readonly log: Logger;
  readonly everyMs: number;
  readonly signal: AbortSignal;
}

/** Forgets deletions that are too old to matter, until the signal aborts. */
export async function expireTombstones(options: ExpiryOptions): Promise<void> {
  const { clock, everyMs, signal, log } = options;
  while (!signal.aborted) {
    try {
      await clock.sleep(everyMs, signal);
    } catch {
      return;
    }
    try {
      await forgetExpired(options.editing());
    } catch (error) {
      log.warn("old deletions not forgotten", { error: error instanceof Error ? error.message : String(error) });
    }
  }
}

async function forgetExpired(editing: Editing): Promise<void> {
  const { versions } = editing;
  const expired = [...versions.entries()].filter(
    ([key, version]) => isExpired(editing, version) && versions.newest(key) === version,
  );
  await Promise.all(expired.map(([key]) => versions.commit({ key, record: { kind: "forget", key } })));
}
