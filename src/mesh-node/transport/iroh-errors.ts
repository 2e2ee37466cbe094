import { TransportError, type TransportFailure } from "./transport.ts";

const unclear = "the connection failed";

/** The library has one error code for everything: only the text tells them apart. */
const failures: readonly (readonly [RegExp, TransportFailure, string])[] = [
  [/invalid peer certificate/, "OtherIdentity", "somebody with another key answered"],
  [/support any known protocol/, "OtherProtocol", "the peer does not speak our protocol"],
  [/No addressing information/, "NoAddress", "the peer has no address"],
  [/ourself/, "IsSelf", "an endpoint does not dial itself"],
  [/Endpoint is closed/, "TransportClosed", "the endpoint is closed"],
  [/timed out/, "DialTimeout", "no answer"],
];

/** What a failed dial means. */
export function dialFailure(error: unknown): TransportError {
  if (error instanceof TransportError) return error;
  const text = beforeBacktrace(error);
  const known = failures.find(([pattern]) => pattern.test(text));
  return known ? new TransportError(known[1], known[2]) : new TransportError("Unreachable", plainCause(error));
}

/** The innermost cause on one line, without backtrace and source positions. */
export function plainCause(error: unknown): string {
  const lines = beforeBacktrace(error).split("\n");
  const last = lines.findLast((line) => line.trim() !== "" && !line.startsWith("Caused by"));
  return last?.trim().replace(/\s*\([^()]*:\d+:\d+\)$/, "") || unclear;
}

function beforeBacktrace(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split(/^Stack backtrace/m)[0] ?? "";
}
