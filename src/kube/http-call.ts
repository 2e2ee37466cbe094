import { CallScope } from "./call-scope.ts";
import { ChunkStream } from "./chunk-stream.ts";
import type { Token } from "./connection-config.ts";
import { KubeError, type KubeErrorFacts, type Verb } from "./errors.ts";
import { asTransportError } from "./failure-words.ts";
import type { Resource } from "./resource.ts";
import { readBody } from "./response-body.ts";
import { refusalOf } from "./status.ts";
import { type HttpAnswer, type HttpRequest, type Transport, TransportError } from "./transport.ts";

const defaultDeadlineMs = 10_000;
const maxRefusalBytes = 1024 * 1024;

type Headers = HttpRequest["headers"];

/** What all calls of one client share. */
export interface CallContext {
  readonly cluster: string;
  readonly transport: Transport;
  readonly pathPrefix: string;
  readonly streamHeaders: Headers;
  /** For calls whose answer is read as a whole. */
  readonly unaryHeaders: Headers;
  readonly token: Token | undefined;
}

export interface Call extends Pick<HttpRequest, "method" | "path" | "body"> {
  readonly verb: Verb;
  readonly resource: Resource;
  readonly name?: string;
  /** Of the body. */
  readonly contentType?: string;
  readonly signal: AbortSignal | undefined;
  readonly deadlineMs: number | undefined;
}

/** What an answer has to be. */
export interface Expected<T> {
  readonly maxBytes: number;
  /** What is found in the JSON; `undefined` means it is not what it should. */
  readonly read: (json: unknown) => T | undefined;
}

/** Makes one call and returns what is expected of its answer. */
export async function performCall<T>(context: CallContext, call: Call, { maxBytes, read }: Expected<T>): Promise<T> {
  const scope = new CallScope(call.deadlineMs ?? defaultDeadlineMs, call.signal);
  try {
    const answer = await accepted(context, call, scope.signal);
    const value = read(parseJson(await readBody(answer, maxBytes)));
    if (value === undefined) throw serverFault(`answered JSON that is no ${call.verb === "list" ? "list" : "object"}`);
    return value;
  } catch (error) {
    throw explained(context, call, scope.signal.aborted ? scope.signal.reason : error);
  } finally {
    scope.end();
  }
}

/** Opens a stream of chunks; from then on only the caller's signal ends it early. */
export async function openStream(context: CallContext, call: Call): Promise<AsyncIterable<Uint8Array>> {
  const scope = new CallScope(call.deadlineMs ?? defaultDeadlineMs, call.signal);
  const fail = (error: unknown) => explained(context, call, scope.signal.aborted ? scope.signal.reason : error);
  try {
    const { body, headers } = await accepted(context, call, scope.signal);
    scope.dropDeadline();
    body.once("close", () => scope.end());
    if (headers["content-encoding"]) body.destroy(serverFault("answered in an unknown encoding"));
    return new ChunkStream(body, fail);
  } catch (error) {
    scope.end();
    throw fail(error);
  }
}

/** Sends the call and returns its answer if that is a success in JSON. A token that was replaced meanwhile is tried. */
async function accepted(context: CallContext, call: Call, signal: AbortSignal): Promise<HttpAnswer> {
  const token = tokenOf(context.token);
  let answer = await send(context, call, { token, signal });
  const fresh = answer.status === 401 ? tokenOf(context.token, true) : token;
  if (fresh !== token) {
    answer.body.destroy();
    answer = await send(context, call, { token: fresh, signal });
  }
  if (answer.status < 200 || answer.status >= 300) throw await refused(context, call, answer);
  const contentType = mediaType(answer);
  if (contentType === "application/json") return answer;
  answer.body.destroy();
  throw serverFault(`answered ${contentType}, not JSON`);
}

function tokenOf(token: Token | undefined, refresh?: boolean): string | undefined {
  return typeof token === "function" ? token(refresh) : token;
}

interface Sending {
  readonly token: string | undefined;
  readonly signal: AbortSignal;
}

function send(context: CallContext, call: Call, { token, signal }: Sending): Promise<HttpAnswer> {
  const { method, body } = call;
  const path = `${context.pathPrefix}${call.path}`;
  const headers = headersOf(context, call, token);
  return context.transport.send({ method, path, headers, body, signal });
}

function headersOf(context: CallContext, { verb, contentType }: Call, token: string | undefined): Headers {
  const headers: Record<string, string> = { ...(verb === "watch" ? context.streamHeaders : context.unaryHeaders) };
  if (contentType) headers["content-type"] = contentType;
  if (token) headers.authorization = `Bearer ${token}`;
  return headers;
}

async function refused(context: CallContext, call: Call, answer: HttpAnswer): Promise<KubeError> {
  const { status, headers } = answer;
  const body = await refusalBody(answer, tokenOf(context.token));
  const retryAfter = headers["retry-after"];
  const refusal = refusalOf({ status, body, retryAfter: typeof retryAfter === "string" ? retryAfter : undefined });
  return new KubeError({ ...factsOf(context, call), ...refusal });
}

/** The status alone says enough when the body cannot be read. An echo of our own token is blotted out. */
async function refusalBody(answer: HttpAnswer, token: string | undefined): Promise<unknown> {
  try {
    const text = (await readBody(answer, maxRefusalBytes)).toString("utf8");
    return JSON.parse(token ? text.replaceAll(token, "[token]") : text);
  } catch {
    return undefined;
  }
}

/** The media type if it is one we know: the header is text of the remote side. */
function mediaType({ headers }: HttpAnswer): string {
  const type =
    String(headers["content-type"] ?? "")
      .split(";", 1)[0]
      ?.trim()
      .toLowerCase() ?? "";
  return knownMediaTypes.find((known) => known === type) ?? "an unknown content type";
}

const knownMediaTypes = [
  "application/json",
  "text/html",
  "text/plain",
  "application/xml",
  "application/yaml",
  "application/vnd.kubernetes.protobuf",
] as const;

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    throw serverFault("answered malformed JSON");
  }
}

function serverFault(detail: string): TransportError {
  return new TransportError({ kind: "server", detail });
}

/** Failures of the wire become a `KubeError`; the reason of the caller's own abort passes as it is. */
function explained(context: CallContext, call: Call, error: unknown): unknown {
  if (error instanceof KubeError || (call.signal?.aborted && error === call.signal.reason)) return error;
  const { kind, detail } = asTransportError(error).facts;
  return new KubeError({ ...factsOf(context, call), kind, detail });
}

function factsOf({ cluster }: CallContext, { verb, resource, name }: Call): Omit<KubeErrorFacts, "kind"> {
  const { plural, group } = resource;
  return { cluster, verb, resource: group ? `${plural}.${group}` : plural, ...(name && { name }) };
}
