import type { Fields, Logger } from "../../src/runtime/log.ts";

const keptLines = 60;

/** Keeps the last lines of a log, for the one who has to find out why a test failed. */
export function logTail(): { readonly log: Logger; lines(): string[] } {
  const lines: string[] = [];
  const at = performance.now();
  const keep = (level: string, message: string, fields: Fields): void => {
    const seconds = ((performance.now() - at) / 1000).toFixed(2);
    lines.push(`${seconds} ${level} ${message} ${JSON.stringify(fields)}`);
    if (lines.length > keptLines) lines.shift();
  };
  const logger = (own: Fields): Logger => ({
    debug: () => undefined,
    info: (message, fields) => keep("info", message, { ...own, ...fields }),
    warn: (message, fields) => keep("warn", message, { ...own, ...fields }),
    error: (message, fields) => keep("error", message, { ...own, ...fields }),
    with: (fields) => logger({ ...own, ...fields }),
  });
  return { log: logger({}), lines: () => [...lines] };
}
