import { styleText } from "node:util";

type Style = Parameters<typeof styleText>[0];

/** Where a command speaks to a person. Colour only on a terminal; NO_COLOR is honoured. */
export interface Terminal {
  line(text?: string): void;
  styled(style: Style, text: string): string;
}

export function terminalOn(stream: NodeJS.WriteStream): Terminal {
  return {
    line: (text = "") => void stream.write(`${text}\n`),
    styled: (style, text) => styleText(style, text, { stream }),
  };
}

/** A mistake of the person at the keyboard: said in one line, without a stack, and what to do next. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Aborts at the first Ctrl-C or SIGTERM; a second one ends the process at once. */
export function untilInterrupted(): AbortSignal {
  const controller = new AbortController();
  const stop = (): void => {
    if (controller.signal.aborted) process.exit(130);
    controller.abort();
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  return controller.signal;
}

/** What the system calls the failure of a file, in brackets, for the end of a sentence; nothing where it says nothing. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? ` (${error.code})` : "";
}
