import type { IncomingHttpHeaders } from "node:http";
import { request as httpsRequest } from "node:https";
import { text } from "node:stream/consumers";

export interface RawRequest {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";
  readonly path: string;
  /** Sent as JSON; a string is sent as it is. */
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Parsed when it is JSON, else the text. */
  readonly body: unknown;
}

export interface RawTarget {
  readonly server: string;
  readonly caPem?: string;
  readonly token: string | undefined;
}

/** One request over HTTP/1.1 whose answer is returned whatever its status. */
export function rawRequest({ server, caPem, token }: RawTarget, request: RawRequest): Promise<RawAnswer> {
  const { method = "GET", path, body, contentType = "application/json", accept = "application/json" } = request;
  const payload = typeof body === "string" || body === undefined ? body : JSON.stringify(body);
  const headers = {
    accept,
    ...(token && { authorization: `Bearer ${token}` }),
    ...(payload !== undefined && { "content-type": contentType, "content-length": Buffer.byteLength(payload) }),
  };
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(30_000);
    const outgoing = httpsRequest(new URL(path, server), { method, headers, ca: caPem, agent: false, signal });
    outgoing.on("error", reject);
    outgoing.on("response", (incoming) => {
      const answered = { status: incoming.statusCode ?? 0, headers: incoming.headers };
      text(incoming).then((answer) => resolve({ ...answered, body: parsed(answer) }), reject);
    });
    outgoing.end(payload);
  });
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}
