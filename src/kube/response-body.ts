import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { asTransportError } from "./failure-words.ts";
import { GatheredBytes } from "./gathered-bytes.ts";
import { type HttpAnswer, TransportError } from "./transport.ts";

/** The whole body, unpacked. More than `maxBytes` of it is an error, and so is a body that stops early. */
export async function readBody(answer: HttpAnswer, maxBytes: number): Promise<Buffer> {
  const { body, headers } = answer;
  try {
    const encoding = headers["content-encoding"];
    if (encoding === "gzip") return await collect(unzip(body), maxBytes);
    if (encoding !== undefined && encoding !== "identity") throw serverFault("answered in an unknown encoding");
    if (Number(headers["content-length"] ?? 0) > maxBytes) throw tooLarge(maxBytes);
    return await collect(body, maxBytes);
  } catch (error) {
    body.destroy();
    throw error;
  }
}

/** Node ends an HTTP/2 stream as if it were complete when its connection is lost; only the reset code tells. */
export function stoppedEarly(body: Readable): boolean {
  const isReset = "rstCode" in body && Boolean(body.rstCode);
  return isReset || ("complete" in body && body.complete === false);
}

export function truncated(): TransportError {
  return new TransportError({ kind: "unreachable", detail: "connection lost in the middle of the answer" });
}

/** The first to fail of the two streams takes the other with it. */
function unzip(body: Readable): Readable {
  const gunzip = createGunzip();
  body.once("error", (error) => gunzip.destroy(error));
  body.once("close", () => body.readableEnded || gunzip.destroy(truncated()));
  gunzip.once("close", () => body.destroy());
  return body.pipe(gunzip);
}

function collect(source: Readable, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const gathered = new GatheredBytes();
    if (source.destroyed) return reject(truncated());
    source.on("data", (chunk: Buffer) => {
      if (gathered.length + chunk.length <= maxBytes) return gathered.add(chunk);
      source.destroy();
      return reject(tooLarge(maxBytes));
    });
    let isOver = false;
    source.on("end", () => {
      isOver = true;
      return stoppedEarly(source) ? reject(truncated()) : resolve(gathered.take());
    });
    source.on("error", (error) => reject(bodyFailure(error)));
    source.on("close", () => isOver || reject(truncated()));
  });
}

function bodyFailure(error: Error): TransportError {
  const code = "code" in error ? error.code : undefined;
  if (code === "Z_BUF_ERROR") return truncated();
  return code === "Z_DATA_ERROR" ? serverFault("answered malformed gzip") : asTransportError(error);
}

function tooLarge(maxBytes: number): TransportError {
  return serverFault(`response larger than ${maxBytes} bytes`);
}

function serverFault(detail: string): TransportError {
  return new TransportError({ kind: "server", detail });
}
