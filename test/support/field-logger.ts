import type { Fields, Logger } from "../../src/runtime/log.ts";

export interface LogLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  readonly fields: Fields;
}

/** Keeps every line with all its fields. */
export function fieldLogger(lines: LogLine[], fields: Fields = {}): Logger {
  const note = (level: LogLine["level"]) => (message: string, more?: Fields) => {
    lines.push({ level, message, fields: { ...fields, ...more } });
  };
  return {
    debug: note("debug"),
    info: note("info"),
    warn: note("warn"),
    error: note("error"),
    with: (more) => fieldLogger(lines, { ...fields, ...more }),
  };
}
