import { createServer } from "node:net";
import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { createGzip, gzipSync } from "node:zlib";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { errorOf, TestBed } from "../../test/support/test-bed.ts";
import { makeCertificates } from "../../test/support/test-certificates.ts";
import { answerJson, listen, type StreamHandler } from "../../test/support/test-server.ts";
import { nodes } from "./resource.ts";

let bed: TestBed;
const mebibyte = 1024 * 1024;
const n = { name: "n" };
const json = { ":status": 200, "content-type": "application/json" };

beforeAll(async () => {
  bed = await TestBed.create();
});

afterEach(() => bed.stopAll());

describe("an answer that is not what it should be", () => {
  test("a page of HTML is named as such", async () => {
    const { client } = await bed.pair((stream) => {
      stream.respond({ ":status": 200, "content-type": "text/html; charset=utf-8" });
      stream.end("<h1>Please log in</h1>");
    });
    const expected = { kind: "server", detail: "answered text/html, not JSON" };
    expect(await errorOf(client.get(nodes, n))).toMatchObject(expected);
    expect(await errorOf(client.delete(nodes, n))).toMatchObject(expected);
    const signal = new AbortController().signal;
    expect(await errorOf(client.watch(nodes, { signal, resourceVersion: "1", timeoutSeconds: 5 }))).toMatchObject(
      expected,
    );
  });

  test("malformed JSON is named as such", async () => {
    const { client } = await bed.pair((stream) => {
      stream.respond(json);
      stream.end('{"metadata": ');
    });
    expect(await errorOf(client.get(nodes, n))).toMatchObject({ kind: "server", detail: "answered malformed JSON" });
  });

  test("a connection cut in the middle of the body is `unreachable`", async () => {
    const { client, server } = await bed.pair((stream) => {
      stream.respond(json);
      stream.write('{"metadata": {}}');
      setTimeout(() => server.cut(), 50);
    });
    expect(await errorOf(client.get(nodes, n))).toMatchObject({
      kind: "unreachable",
      detail: "connection lost in the middle of the answer",
    });
  });

  test("a stream that the server resets in the middle of the body is `unreachable`", async () => {
    const { client } = await bed.pair((stream) => {
      stream.respond(json);
      stream.write('{"metadata": {}}');
      setTimeout(() => stream.destroy(new Error("reset")), 50);
    });
    expect(await errorOf(client.get(nodes, n))).toMatchObject({ kind: "unreachable" });
  });

  test("a body shorter than its content-length is `unreachable`", async () => {
    const { client } = await bed.pair((stream) => {
      stream.respond({ ...json, "content-length": "500" });
      stream.end('{"metadata": {}}');
    });
    expect(await errorOf(client.get(nodes, n))).toMatchObject({ kind: "unreachable" });
  });
});

describe("an answer that is too large", () => {
  test("100 MB are given up at the limit", async () => {
    let sentBytes = 0;
    const { client } = await bed.pair((stream) => {
      stream.respond(json);
      const megabytes = function* () {
        for (; sentBytes < 100 * mebibyte; sentBytes += mebibyte) yield Buffer.alloc(mebibyte, 0x20);
      };
      Readable.from(megabytes()).pipe(stream);
    });
    const error = await errorOf(client.get(nodes, n));
    expect(error).toMatchObject({ kind: "server", detail: `response larger than ${8 * mebibyte} bytes` });
    expect(sentBytes).toBeLessThan(40 * mebibyte);
  });

  test("a content-length over the limit is refused before the body comes", async () => {
    const { client } = await bed.pair(
      (stream) => {
        stream.respond({ ...json, "content-length": "5000" });
      },
      { options: { maxListBytes: 4000 } },
    );
    expect(await errorOf(client.list(nodes))).toMatchObject({
      kind: "server",
      detail: "response larger than 4000 bytes",
    });
  });

  test("a gzip bomb is measured by what comes out of it", async () => {
    const { client } = await bed.pair(
      (stream) => {
        stream.respond({ ...json, "content-encoding": "gzip" });
        const gzip = createGzip({ level: 9 });
        gzip.on("error", () => undefined);
        gzip.pipe(stream);
        const zeros = Buffer.alloc(1024 * 1024);
        for (let count = 0; count < 50; count++) gzip.write(zeros);
        gzip.end();
      },
      { config: { compress: true } },
    );
    expect(await errorOf(client.get(nodes, n))).toMatchObject({
      kind: "server",
      detail: `response larger than ${8 * mebibyte} bytes`,
    });
  });
});

describe("gzip", () => {
  const answer = gzipSync(JSON.stringify({ metadata: { name: "n" } }));

  test("is asked for and unpacked when the config says so, and not asked for otherwise", async () => {
    const asked: unknown[] = [];
    const handle: StreamHandler = (stream, { headers }) => {
      asked.push(headers["accept-encoding"]);
      if (!headers["accept-encoding"]) return answerJson(stream, { metadata: { name: "n" } });
      stream.respond({ ...json, "content-encoding": "gzip" });
      stream.end(answer);
    };
    for (const compress of [true, false]) {
      const { client } = await bed.pair(handle, { config: { compress } });
      expect(await client.get(nodes, n)).toEqual({ metadata: { name: "n" } });
    }
    expect(asked).toEqual(["gzip", undefined]);
  });

  test("cut short is `unreachable`, broken is an error of the server", async () => {
    const bodies = [answer.subarray(0, 20), Buffer.from("no gzip at all")];
    const { client } = await bed.pair((stream) => {
      stream.respond({ ...json, "content-encoding": "gzip" });
      stream.end(bodies.shift());
    });
    expect(await errorOf(client.get(nodes, n))).toMatchObject({ kind: "unreachable" });
    expect(await errorOf(client.get(nodes, n))).toMatchObject({ kind: "server", detail: "answered malformed gzip" });
  });

  test("another encoding is an error of the server", async () => {
    const { client } = await bed.pair((stream) => {
      stream.respond({ ...json, "content-encoding": "br" });
      stream.end("x");
    });
    expect(await errorOf(client.get(nodes, n))).toMatchObject({
      kind: "server",
      detail: "answered in an unknown encoding",
    });
  });
});

describe("a server that takes its time", () => {
  const slow: readonly [string, StreamHandler][] = [
    ["never answers", () => undefined],
    ["sends its headers and nothing else", (stream) => stream.respond(json)],
    [
      "sends one byte now and then",
      (stream) => {
        stream.respond(json);
        const drip = setInterval(() => stream.write(" "), 20);
        stream.on("close", () => clearInterval(drip));
      },
    ],
    [
      "drips a gzip body",
      (stream) => {
        stream.respond({ ...json, "content-encoding": "gzip" });
        stream.write(gzipSync("{}").subarray(0, 12));
      },
    ],
    [
      "drips the body of a refusal",
      (stream) => {
        stream.respond({ ":status": 403, "content-type": "application/json" });
        stream.write("{");
      },
    ],
  ];

  test.each(slow)("a call to a server that %s ends by its deadline", async (_, handle) => {
    const { client } = await bed.pair(handle);
    const error = await errorOf(client.get(nodes, n, { deadlineMs: 150 }));
    expect(error).toMatchObject({ kind: "timeout", detail: "no full answer within 150 ms" });
  });

  test.each(slow)("a call to a server that %s can be aborted", async (_, handle) => {
    const abort = new AbortController();
    const { client } = await bed.pair(handle);
    const call = client.get(nodes, n, { signal: abort.signal });
    const reason = new Error("not needed any more");
    setTimeout(() => abort.abort(reason), 60);
    await expect(call).rejects.toBe(reason);
  });

  test("a call that is aborted before it starts sends nothing", async () => {
    let requests = 0;
    const { client } = await bed.pair((stream) => {
      requests++;
      answerJson(stream, { metadata: {} });
    });
    const reason = new Error("never mind");
    await expect(client.get(nodes, n, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    await client.get(nodes, n);
    expect(requests).toBe(1);
  });

  test("an aborted call frees its stream on the server", async () => {
    const abort = new AbortController();
    const closed = Promise.withResolvers<number>();
    const { client } = await bed.pair((stream) => {
      stream.on("close", () => closed.resolve(stream.rstCode ?? -1));
      abort.abort(new Error("stop"));
    });
    await expect(client.get(nodes, n, { signal: abort.signal })).rejects.toThrow("stop");
    expect(await closed.promise).toBe(8);
  });

  test("the deadline of a watch is for its headers only", async () => {
    const { client } = await bed.pair(async (stream) => {
      stream.respond(json);
      stream.write("one");
      await delay(300);
      stream.end("two");
    });
    const { signal } = new AbortController();
    const chunks = await client.watch(nodes, { signal, resourceVersion: "1", timeoutSeconds: 5, deadlineMs: 150 });
    const received: string[] = [];
    for await (const chunk of chunks) received.push(Buffer.from(chunk).toString());
    expect(received).toEqual(["one", "two"]);
  });

  test("a watch whose headers do not come ends by its deadline", async () => {
    const { client } = await bed.pair(() => undefined);
    const { signal } = new AbortController();
    const watch = client.watch(nodes, { signal, resourceVersion: "1", timeoutSeconds: 5, deadlineMs: 100 });
    expect(await errorOf(watch)).toMatchObject({ kind: "timeout", verb: "watch" });
  });
});

describe("a server that cannot be reached", () => {
  test("nobody listens: connection refused", async () => {
    const { server, client } = await bed.pair(() => undefined);
    await server.close();
    expect(await errorOf(client.get(nodes, n))).toMatchObject({ kind: "unreachable", detail: "connection refused" });
  });

  test("a certificate of another authority is not trusted, unless the config says so", async () => {
    const { server } = await bed.pair((stream) => answerJson(stream, { metadata: {} }));
    const { caPem } = await makeCertificates();
    const strange = bed.client({ ...server.config, caPem });
    expect(await errorOf(strange.get(nodes, n))).toMatchObject({
      kind: "unreachable",
      detail: "certificate not trusted",
    });
    const careless = bed.client({ ...server.config, caPem, insecureTls: true });
    await expect(careless.get(nodes, n)).resolves.toEqual({ metadata: {} });
  });

  test("a certificate for another name is refused, and accepted under the name it has", async () => {
    const { server } = await bed.pair((stream) => answerJson(stream, { metadata: {} }));
    const wrong = bed.client({ ...server.config, serverName: "other.test" });
    expect(await errorOf(wrong.get(nodes, n))).toMatchObject({ detail: "certificate is for another name" });
    const right = bed.client({ ...server.config, serverName: "cluster.test" });
    await expect(right.get(nodes, n)).resolves.toEqual({ metadata: {} });
  });

  test("a server that speaks no TLS is named as such", async () => {
    const plain = createServer((socket) => void socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    const { config } = bed.stops(await listen(plain, bed.certificates));
    const error = await errorOf(bed.client(config).get(nodes, n));
    expect(error).toMatchObject({ kind: "unreachable", detail: "the server does not speak TLS" });
  });

  test("a server that accepts and says nothing ends with the connect timeout", async () => {
    const { config } = bed.stops(
      await listen(
        createServer(() => undefined),
        bed.certificates,
      ),
    );
    const client = bed.client(config, { connectTimeoutMs: 100 });
    expect(await errorOf(client.get(nodes, n))).toMatchObject({ kind: "unreachable", detail: "connect timeout" });
  });

  test("a name that leads to loopback is refused where loopback is not allowed", async () => {
    const { server } = await bed.pair((stream) => answerJson(stream, { metadata: {} }));
    for (const host of ["localhost", "127.0.0.1"]) {
      const config = { ...server.config, server: `https://${host}:${server.port}`, refuseLoopback: true };
      const error = await errorOf(bed.client(config).get(nodes, n));
      expect(error.detail).toBe("the server's address is loopback or link-local, which is not allowed here");
    }
    expect(server.connections()).toBe(0);
  });

  test("a broken certificate in the config is named as such", async () => {
    const { server } = await bed.pair(() => undefined);
    const unknown = bed.client({ ...server.config, caPem: "nonsense" });
    expect((await errorOf(unknown.get(nodes, n))).detail).toBe("certificate not trusted");
    const { certPem } = bed.certificates.client;
    const broken = bed.client({ ...server.config, certPem, keyPem: "nonsense" });
    expect((await errorOf(broken.get(nodes, n))).detail).toBe("the client certificate of the config is broken");
  });
});

test("the token is in no error, whatever the server does with it", async () => {
  const echo = (headers: { authorization?: unknown }) => String(headers.authorization);
  const handlers: StreamHandler[] = [
    (stream, { headers }) => {
      const causes = [{ field: echo(headers), message: echo(headers) }];
      answerJson(stream, { message: echo(headers), reason: echo(headers), details: { causes } }, 422);
    },
    (stream, { headers }) => {
      stream.respond({ ...json, "content-type": `x/${echo(headers).split(" ")[1]}` });
      stream.end();
    },
    (stream, { headers }) => {
      stream.respond(json);
      stream.end(echo(headers));
    },
    (stream, { headers }) => {
      stream.respond({ ":status": 302, location: `https://elsewhere.test/${echo(headers)}` });
      stream.end();
    },
    (stream) => stream.destroy(new Error("broken")),
  ];
  for (const handle of handlers) {
    const { client } = await bed.pair(handle, { config: { token: "PLANTED-4f2e" } });
    const error = await errorOf(client.get(nodes, n));
    expect(everythingIn(error)).not.toMatch(/planted/i);
  }
});

function everythingIn(error: unknown): string {
  if (!(error instanceof Error)) return JSON.stringify(error) ?? "";
  return [JSON.stringify(error), error.message, error.stack, everythingIn(error.cause)].join("\n");
}
