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

/** JSON lines on standard error; the level is a word, as in `--log-level`. */
export function jsonLogger(level: Level = "info"): Logger {
  const formatters = { level: (label: string) => ({ level: label }) };
  const root = pino({ level, base: null, timestamp: timestamps(), formatters }, standardError());
  return wrap(root);
}

/** The time of a line as a field. Only its milliseconds are made for every line: the rest costs as much as the line. */
function timestamps(): () => string {
  let [second, text] = [Number.NaN, ""];
  return () => {
    const nowMs = Date.now();
    const ms = nowMs % 1000;
    if (nowMs - ms !== second) text = `,"time":"${new Date(nowMs - ms).toISOString().slice(0, -4)}`;
    second = nowMs - ms;
    return `${text}${String(ms).padStart(3, "0")}Z"`;
  };
}

const mostGathered = 100;

/**
 * Lines that are written in one turn of the event loop go out together at its end. An exit waits for them: the last line
 * before it is the one that matters.
 */
function standardError(): pino.DestinationStream {
  const out = destination({ fd: 2, sync: true });
  let lines: string[] = [];
  const flush = (): void => {
    if (lines.length > 0) out.write(lines.join(""));
    lines = [];
  };
  process.on("exit", flush);
  return {
    write: (line) => {
      if (lines.push(line) === 1) setImmediate(flush);
      if (lines.length >= mostGathered) flush();
    },
  };
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
