import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import type { Logger } from "../../runtime/log.ts";
import { DocumentError, type DocumentErrorKind } from "../documents/documents.ts";

const documentCodes: Readonly<Record<DocumentErrorKind, Code>> = {
  invalid: Code.InvalidArgument,
  "too-large": Code.ResourceExhausted,
  storage: Code.Unavailable,
  corrupt: Code.DataLoss,
  "in-use": Code.FailedPrecondition,
  closed: Code.Unavailable,
};

/** Called once per call, when it was answered; for a stream, when it began or was refused. */
export type CountCall = (method: string, code: string) => void;

/** Turns every failure into a code for the client and counts the calls. What nobody expected is logged, not shown. */
export function callInterceptor(log: Logger, count: CountCall): Interceptor {
  return (next) => async (request) => {
    const { name } = request.method;
    try {
      const response = await next(request);
      count(name, "ok");
      return response;
    } catch (error) {
      const answer = codedError(error);
      if (answer.code === Code.Internal) log.error("bug in a call", { method: name, stack: stackOf(error) });
      count(name, wordOf(answer.code));
      throw answer;
    }
  };
}

function codedError(error: unknown): ConnectError {
  if (error instanceof ConnectError) return error;
  if (error instanceof DocumentError) return new ConnectError(error.message, documentCodes[error.kind]);
  return new ConnectError("internal error", Code.Internal);
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** `InvalidArgument` → `invalid_argument`, as clients write it. */
function wordOf(code: Code): string {
  return Code[code].replace(/(?<=.)[A-Z]/g, "_$&").toLowerCase();
}
