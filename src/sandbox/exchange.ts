import type { IncomingMessage } from "node:http";
import { constants, type Http2ServerRequest, type ServerHttp2Stream } from "node:http2";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { parse as parseYaml } from "yaml";
import { decodeProtobuf, protobufType } from "./protobuf-body.ts";
import { badRequest, failureOf, type StatusError, unsupportedMediaType } from "./status.ts";

export type ServerRequest = Http2ServerRequest | IncomingMessage;

/** The response side of a request; HTTP/2 ones have a `stream`. */
export interface ServerAnswer {
  readonly stream?: ServerHttp2Stream | undefined;
  writeHead(code: number, headers: Readonly<Record<string, string>>): unknown;
  flushHeaders(): void;
  write(chunk: Buffer, done?: () => void): boolean;
  end(chunk?: Buffer): unknown;
  destroy(): unknown;
  on(event: "drain" | "close" | "error", listener: () => void): unknown;
  once(event: "drain" | "close" | "error", listener: () => void): unknown;
}

/** An answer that is not a stream. */
export interface Reply {
  readonly code: number;
  readonly pieces: Iterable<string>;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const bodyLimit = 3 * 1024 * 1024;
const gzipFromBytes = 128 * 1024;
const compress = promisify(gzip);

export function jsonReply(code: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Reply {
  return { code, pieces: [`${JSON.stringify(body)}\n`], headers };
}

export function textReply(code: number, text: string): Reply {
  return { code, pieces: [text], contentType: "text/plain; charset=utf-8" };
}

export function statusReply({ status }: StatusError): Reply {
  const seconds = status.details?.retryAfterSeconds;
  return jsonReply(status.code, status, seconds === undefined ? {} : { "retry-after": String(seconds) });
}

/** Sends a reply whole, compressed when it is large and the client asked for it. */
export async function send(request: ServerRequest, answer: ServerAnswer, reply: Reply): Promise<void> {
  const body = Buffer.concat([...reply.pieces].map((piece) => Buffer.from(piece)));
  const zipped = body.length > gzipFromBytes && /\bgzip\b/.test(String(request.headers["accept-encoding"] ?? ""));
  const payload = zipped ? await compress(body, { level: 1 }) : body;
  if (isGone(request, answer)) return;
  answer.writeHead(reply.code, {
    "content-type": reply.contentType ?? "application/json",
    "cache-control": "no-cache, private",
    ...(zipped && { "content-encoding": "gzip", vary: "Accept-Encoding" }),
    "content-length": String(payload.length),
    ...reply.headers,
  });
  answer.end(payload);
}

export function isGone(request: ServerRequest, answer: ServerAnswer): boolean {
  return isHttp2(request) ? answer.stream === undefined || answer.stream.destroyed : request.socket.destroyed;
}

function isHttp2(request: ServerRequest): boolean {
  return request.httpVersionMajor === 2;
}

/** Breaks the connection (HTTP/1.1) or the stream (HTTP/2). `untouched` tells the client that nothing was done. */
export function breakOff(request: ServerRequest, answer: ServerAnswer, untouched: boolean): void {
  if (isGone(request, answer)) return;
  const code = untouched ? constants.NGHTTP2_REFUSED_STREAM : constants.NGHTTP2_INTERNAL_ERROR;
  if (answer.stream) answer.stream.close(code);
  else request.socket.destroy();
}

/** The request body as JSON. Throws what a server answers to bodies that cannot be read. */
export async function readBody(request: ServerRequest, accepted: readonly string[]): Promise<unknown> {
  const type = mediaType(request) || "application/json";
  if (!accepted.includes(type)) throw unsupportedMediaType(accepted);
  const bytes = await readBytes(request);
  if (bytes.length === 0) return undefined;
  if (type === protobufType) return decodeProtobuf(bytes);
  const text = bytes.toString();
  try {
    return type.endsWith("yaml") ? parseYaml(text) : JSON.parse(text);
  } catch (error) {
    const what = `couldn't get version/kind; json parse error: ${(error as Error).message}`;
    throw badRequest(`the object provided is unrecognized: ${what}`);
  }
}

export function mediaType(request: ServerRequest): string {
  return String(request.headers["content-type"] ?? "")
    .split(";", 1)
    .join("")
    .trim()
    .toLowerCase();
}

async function readBytes(request: ServerRequest): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length;
    if (bytes <= bodyLimit) chunks.push(chunk as Buffer);
  }
  // Only now: a client that is still sending would not read the answer.
  if (bytes > bodyLimit) throw failureOf(413);
  return Buffer.concat(chunks);
}
