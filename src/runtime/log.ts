import { destination, type Level, pino } from "pino";

export type Fields = Readonly<Record<string, unknown>>;

/** Constant message, fields for the rest: `log.info("peer written", { target, peer })`. */
export interface Logger {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
  /** A logger that adds `fields` to every line. */
  with(fields: Fields): Logger;
}

/** JSON lines on standard error. Synchronous: the last line before an exit is the one that matters. */
export function jsonLogger(level: Level = "info"): Logger {
  const root = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    destination({ fd: 2, sync: true }),
  );
  return wrap(root);
}

export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => silentLogger,
};

function wrap(line: pino.Logger): Logger {
  return {
    debug: (message, fields) => line.debug(fields ?? {}, message),
    info: (message, fields) => line.info(fields ?? {}, message),
    warn: (message, fields) => line.warn(fields ?? {}, message),
    error: (message, fields) => line.error(fields ?? {}, message),
    with: (fields) => wrap(line.child(fields)),
  };
}
