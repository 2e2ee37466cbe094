import { request as httpsRequest } from "node:https";
import { text } from "node:stream/consumers";

/** Who asks, and where. */
export interface Access {
  readonly url: string;
  readonly caPem: string;
  readonly token?: string;
}

export interface Call {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: unknown;
  /** Of the body; JSON when not said. */
  readonly contentType?: string;
  readonly timeoutMs?: number;
  /** A request under another name than the harness's counts in `audit()`. */
  readonly userAgent?: string;
}

/** Requests under this name are the harness's own. */
export const harnessAgent = "control-plane-harness";

export interface Answer {
  readonly status: number;
  /** Parsed when it is JSON, else the text. */
  readonly body: unknown;
}

/**
 * One request on a connection of its own, so that a restarted server never meets an old connection.
 * The certificate is checked strictly. Answers of any status are returned; only a failed connection throws.
 */
export async function ask(access: Access, call: Call): Promise<Answer> {
  const payload = call.body === undefined ? undefined : JSON.stringify(call.body);
  const headers: Record<string, string> = { accept: "application/json", "user-agent": call.userAgent ?? harnessAgent };
  if (access.token) headers.authorization = `Bearer ${access.token}`;
  if (payload !== undefined) headers["content-type"] = call.contentType ?? "application/json";
  return new Promise((resolve, reject) => {
    const outgoing = httpsRequest(new URL(call.path, access.url), {
      method: call.method ?? "GET",
      headers,
      ca: access.caPem,
      agent: false,
      signal: AbortSignal.timeout(call.timeoutMs ?? 30_000),
    });
    outgoing.on("error", reject);
    outgoing.on("response", (incoming) => {
      text(incoming).then((body) => resolve({ status: incoming.statusCode ?? 0, body: parsed(body) }), reject);
    });
    outgoing.end(payload);
  });
}

/** As `ask`, but an answer other than 2xx throws. `T` is the caller's word for what the server sends. */
export async function askFor<T = unknown>(access: Access, call: Call): Promise<T> {
  const answer = await ask(access, call);
  if (answer.status >= 200 && answer.status < 300) return answer.body as T;
  throw new Error(`${call.method ?? "GET"} ${call.path}: ${answer.status} ${JSON.stringify(answer.body)}`);
}

/** Creates the object or changes it to what is said here. */
export async function applyObject(access: Access, path: string, object: unknown): Promise<void> {
  await askFor(access, {
    method: "PATCH",
    path: `${path}?fieldManager=control-plane-harness&force=true`,
    contentType: "application/apply-patch+yaml",
    body: object,
  });
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}
