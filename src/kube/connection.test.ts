import { execFile } from "node:child_process";
import { createServer as createProxy } from "node:http";
import { constants, type ServerHttp2Stream } from "node:http2";
import { connect, createServer } from "node:net";
import { Readable } from "node:stream";
import { promisify } from "node:util";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../test/support/eventually.ts";
import { errorOf, TestBed } from "../../test/support/test-bed.ts";
import { startRelay } from "../../test/support/test-relay.ts";
import { answerJson, listen } from "../../test/support/test-server.ts";
import type { KubeClient } from "./client.ts";
import { nodes } from "./resource.ts";

let bed: TestBed;
const json = { ":status": 200, "content-type": "application/json" };
const n = { name: "n" };

beforeAll(async () => {
  bed = await TestBed.create();
});

afterEach(() => bed.stopAll());

function openWatch(client: KubeClient, signal = new AbortController().signal): Promise<AsyncIterable<Uint8Array>> {
  return client.watch(nodes, { signal, resourceVersion: "1", timeoutSeconds: 300 });
}

async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const received: Uint8Array[] = [];
  for await (const chunk of chunks) received.push(chunk);
  return Buffer.concat(received).toString();
}

/** Keeps watch streams open and answers everything else. */
function holdWatches(watches: ServerHttp2Stream[]) {
  return (stream: ServerHttp2Stream, { path }: { readonly path: string }) => {
    if (!path.includes("watch=1")) return answerJson(stream, { metadata: { name: "n" } });
    stream.respond(json);
    watches.push(stream);
  };
}

describe("one session", () => {
  test("a hundred calls at once and a watch share one connection", async () => {
    const watches: ServerHttp2Stream[] = [];
    const { client, server } = await bed.pair(holdWatches(watches));
    await openWatch(client);
    await Promise.all(Array.from({ length: 99 }, () => client.get(nodes, n)));
    expect(server.connections()).toBe(1);
  });

  test("no connection is made before the first call", async () => {
    const { server } = await bed.pair(() => undefined);
    expect(server.connections()).toBe(0);
  });

  test("a client that is told to connect has its connection when the first call comes, and only one", async () => {
    const { client, server } = await bed.pair((stream) => answerJson(stream, { metadata: {} }));
    client.open();
    client.open();
    await eventually(() => expect(server.connections()).toBe(1));
    await client.get(nodes, n);
    client.open();
    expect(server.connections()).toBe(1);
  });

  test("what goes wrong when a client is told to connect, the first call meets", async () => {
    const { client, server } = await bed.pair(() => undefined);
    await server.close();
    client.open();
    expect(await errorOf(client.get(nodes, n))).toMatchObject({ kind: "unreachable" });
    client.close();
    client.open();
  });

  test("a lost connection is opened again by the next call", async () => {
    const { client, server } = await bed.pair((stream) => answerJson(stream, { metadata: {} }));
    await client.get(nodes, n);
    server.cut();
    await client.get(nodes, n);
    await client.get(nodes, n);
    expect(server.connections()).toBe(2);
  });

  test("a watch that loses its connection throws, and does not end as if it were complete", async () => {
    const watches: ServerHttp2Stream[] = [];
    const { client, server } = await bed.pair(holdWatches(watches));
    const chunks = await openWatch(client);
    watches[0]?.write("{}\n", () => server.cut());
    expect(await errorOf(textOf(chunks))).toMatchObject({ kind: "unreachable", verb: "watch" });
  });

  test("a watch that the server ends, ends", async () => {
    const { client } = await bed.pair((stream) => {
      stream.respond(json);
      stream.end("one\ntwo\n");
    });
    expect(await textOf(await openWatch(client))).toBe("one\ntwo\n");
  });

  test("leaving the loop over a watch ends its stream", async () => {
    const watches: ServerHttp2Stream[] = [];
    const { client } = await bed.pair(holdWatches(watches));
    const chunks = await openWatch(client);
    watches[0]?.write("{}\n");
    for await (const _ of chunks) break;
    await eventually(() => expect(watches[0]?.destroyed).toBe(true));
  });

  test("a watch that is aborted throws the reason, whether somebody reads or not", async () => {
    const { client } = await bed.pair(holdWatches([]));
    const abort = new AbortController();
    const reason = new Error("enough");
    const [read, unread] = await Promise.all([openWatch(client, abort.signal), openWatch(client, abort.signal)]);
    const reading = textOf(read);
    abort.abort(reason);
    await expect(reading).rejects.toBe(reason);
    await expect(textOf(unread)).rejects.toBe(reason);
  });

  test("a reader that is slower than the server gets everything, in order", async () => {
    const lines = Array.from({ length: 40_000 }, (_, index) => `${index} ${"x".repeat(100)}`);
    const { client } = await bed.pair((stream) => {
      stream.respond(json);
      stream.end(lines.join("\n"));
    });
    const received: Uint8Array[] = [];
    for await (const chunk of await openWatch(client)) {
      received.push(chunk);
      if (received.length % 50 === 1) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(Buffer.concat(received).toString()).toBe(lines.join("\n"));
  });
});

test("a reader that does not read holds the server back", async () => {
  const total = 64 * 1024 * 1024;
  let sentBytes = 0;
  const { client } = await bed.pair((stream, { path }) => {
    if (!path.includes("watch=1")) return answerJson(stream, { metadata: {} });
    stream.respond(json);
    const megabytes = function* () {
      for (; sentBytes < total; sentBytes += 1024 * 1024) yield Buffer.alloc(1024 * 1024);
    };
    Readable.from(megabytes()).pipe(stream);
  });
  const chunks = (await openWatch(client))[Symbol.asyncIterator]();
  let receivedBytes = (await chunks.next()).value?.length ?? 0;
  for (let call = 0; call < 200; call++) await client.get(nodes, n);
  expect(sentBytes).toBeLessThan(total / 2);
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) receivedBytes += next.value.length;
  expect(receivedBytes).toBe(total);
});

describe("a server that takes leave", () => {
  test("a watch goes on after GOAWAY, and new calls use a new connection", async () => {
    const watches: ServerHttp2Stream[] = [];
    const { server } = await bed.pair(holdWatches(watches));
    const relay = bed.stops(await startRelay(server.port, bed.certificates));
    const client = bed.client(relay.config);
    const chunks = await openWatch(client);
    for (let round = 0; round < 3; round++) {
      server.sessions().at(-1)?.goaway(constants.NGHTTP2_NO_ERROR);
      await Promise.all(Array.from({ length: 20 }, () => client.get(nodes, n)));
    }
    expect(relay.connections()).toBeGreaterThan(1);
    await eventually(() => expect(relay.openConnections()).toBe(2));
    watches[0]?.end("still here\n");
    expect(await textOf(chunks)).toBe("still here\n");
    await eventually(() => expect(relay.openConnections()).toBe(1));
  });

  test("a connection without calls is closed when the server takes leave", async () => {
    const { server } = await bed.pair(holdWatches([]));
    const relay = bed.stops(await startRelay(server.port, bed.certificates));
    await bed.client(relay.config).get(nodes, n);
    server.sessions()[0]?.goaway(constants.NGHTTP2_NO_ERROR);
    await eventually(() => expect(relay.openConnections()).toBe(0), { withinMs: 5_000 });
  });

  test("a write that was on its way when the server took leave is sent again, and done once", async () => {
    const written: string[] = [];
    const { client, server } = await bed.pair((stream, { method }) => {
      if (method === "POST") written.push(method);
      answerJson(stream, { metadata: { name: "n" } });
    });
    await client.get(nodes, n);
    server.sessions()[0]?.goaway(constants.NGHTTP2_NO_ERROR);
    await client.create(nodes, { metadata: n });
    expect(written).toEqual(["POST"]);
    expect(server.connections()).toBe(2);
  });

  test("a refused stream is sent again, but not for ever", async () => {
    let refusals = 2;
    const { client } = await bed.pair((stream) => {
      if (refusals-- > 0) return stream.close(constants.NGHTTP2_REFUSED_STREAM);
      answerJson(stream, { metadata: { name: "n" } });
    });
    await client.create(nodes, { metadata: n });
    refusals = Number.POSITIVE_INFINITY;
    expect(await errorOf(client.create(nodes, { metadata: n }))).toMatchObject({ kind: "unreachable" });
  });

  test("a write that the server may have seen is not sent again", async () => {
    let writes = 0;
    const { client, server } = await bed.pair((stream, { method }) => {
      if (method === "GET") return answerJson(stream, { metadata: {} });
      writes++;
      server.cut();
    });
    await client.get(nodes, n);
    expect(await errorOf(client.create(nodes, { metadata: n }))).toMatchObject({ kind: "unreachable" });
    expect(writes).toBe(1);
  });

  test.each(["cut", "reset"] as const)("a read that meets a connection just %s is sent again, once", async (lose) => {
    let reads = 0;
    const lost = new Set([2, 4, 5]);
    const { client, server } = await bed.pair((stream) => {
      if (lost.has(++reads)) return server[lose]();
      answerJson(stream, { metadata: { name: "n" } });
    });
    await client.get(nodes, n);
    await client.get(nodes, n);
    expect(await errorOf(client.get(nodes, n))).toMatchObject({ kind: "unreachable" });
    expect(reads).toBe(5);
  });
});

describe("a server with a stream limit", () => {
  test("more calls than streams all succeed", async () => {
    const { client, server } = await bed.pair(
      (stream) => void setTimeout(() => answerJson(stream, { metadata: {} }), 2),
      { maxConcurrentStreams: 3 },
    );
    await Promise.all(Array.from({ length: 100 }, () => client.get(nodes, n)));
    expect(server.connections()).toBeLessThanOrEqual(8);
  });

  test("watches that fill a session do not block other calls", async () => {
    const { client, server } = await bed.pair(holdWatches([]), { maxConcurrentStreams: 2 });
    await Promise.all([openWatch(client), openWatch(client), openWatch(client)]);
    await client.get(nodes, n);
    expect(server.connections()).toBe(2);
  });

  test("a call that waits for a free stream keeps its deadline", async () => {
    const { client } = await bed.pair(holdWatches([]), { maxConcurrentStreams: 1 });
    await Promise.all(Array.from({ length: 8 }, () => openWatch(client)));
    expect(await errorOf(client.get(nodes, n, { deadlineMs: 100 }))).toMatchObject({ kind: "timeout" });
  });
});

describe("a server that falls silent", () => {
  const quick = { pingAfterMs: 40, pingTimeoutMs: 60 };

  test("a ping without answer ends its watches as unreachable", async () => {
    const { server } = await bed.pair(holdWatches([]));
    const relay = bed.stops(await startRelay(server.port, bed.certificates));
    const chunks = await openWatch(bed.client(relay.config, quick));
    relay.freeze();
    expect(await errorOf(textOf(chunks))).toMatchObject({ kind: "unreachable", detail: "no answer to a ping" });
  });

  test("a watch that stayed on an old session is pinged too", async () => {
    const { server } = await bed.pair(holdWatches([]));
    const relay = bed.stops(await startRelay(server.port, bed.certificates));
    const client = bed.client(relay.config, quick);
    const chunks = await openWatch(client);
    server.sessions()[0]?.goaway(constants.NGHTTP2_NO_ERROR);
    await client.get(nodes, n);
    relay.freeze();
    expect(await errorOf(textOf(chunks))).toMatchObject({ kind: "unreachable", detail: "no answer to a ping" });
    await eventually(() => expect(relay.openConnections()).toBeLessThanOrEqual(1));
  });

  test("a quiet server that answers pings keeps its watches", async () => {
    const watches: ServerHttp2Stream[] = [];
    const { client, server } = await bed.pair(holdWatches(watches), { options: quick });
    const chunks = await openWatch(client);
    let pings = 0;
    server.sessions()[0]?.on("ping", () => pings++);
    await eventually(() => expect(pings).toBeGreaterThan(2));
    watches[0]?.end("alive");
    expect(await textOf(chunks)).toBe("alive");
  });

  test("this process being busy does not count as silence", async () => {
    const watches: ServerHttp2Stream[] = [];
    const { client, server } = await bed.pair(holdWatches(watches), { options: quick });
    const chunks = await openWatch(client);
    const pinged = Promise.withResolvers<void>();
    server.sessions()[0]?.once("ping", () => pinged.resolve());
    await pinged.promise;
    const end = performance.now() + 200;
    while (performance.now() < end);
    watches[0]?.end("alive");
    expect(await textOf(chunks)).toBe("alive");
  });
});

describe("a proxy", () => {
  async function aProxy(status: number) {
    const targets: unknown[] = [];
    const proxy = createProxy();
    proxy.on("connect", (request, socket) => {
      targets.push([request.url, request.headers["proxy-authorization"]]);
      if (status !== 200) return socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
      const [host, port] = (request.url ?? "").split(":");
      const upstream = connect(Number(port), host, () => socket.write("HTTP/1.1 200 OK\r\n\r\n"));
      upstream
        .on("error", () => undefined)
        .pipe(socket)
        .on("error", () => undefined)
        .pipe(upstream);
    });
    return { ...bed.stops(await listen(proxy, bed.certificates)), targets };
  }

  test("a config with a proxy reaches its server through it", async () => {
    const { server } = await bed.pair((stream) => answerJson(stream, { metadata: { name: "n" } }));
    const proxy = await aProxy(200);
    const client = bed.client({ ...server.config, proxyUrl: `http://me:secret@127.0.0.1:${proxy.port}` });
    await client.get(nodes, n);
    await client.get(nodes, n);
    expect(proxy.targets).toEqual([[`127.0.0.1:${server.port}`, `Basic ${btoa("me:secret")}`]]);
  });

  test("a proxy that refuses is named as such", async () => {
    const { server } = await bed.pair(() => undefined);
    const { port } = await aProxy(407);
    const client = bed.client({ ...server.config, proxyUrl: `http://127.0.0.1:${port}` });
    expect((await errorOf(client.get(nodes, n))).detail).toBe("the proxy refused with HTTP 407");
  });
});

describe("close", () => {
  test("ends open calls and watches, and refuses later ones", async () => {
    const { client } = await bed.pair((stream, { path }) => {
      if (path.includes("watch=1")) stream.respond(json);
    });
    const watch = textOf(await openWatch(client));
    const call = client.get(nodes, n);
    client.close();
    const closed = { kind: "unreachable", detail: "client closed" };
    expect(await errorOf(watch)).toMatchObject(closed);
    expect(await errorOf(call)).toMatchObject(closed);
    expect(await errorOf(client.get(nodes, n))).toMatchObject(closed);
  });

  test("ends a call that is still connecting", async () => {
    const { config } = bed.stops(
      await listen(
        createServer(() => undefined),
        bed.certificates,
      ),
    );
    const client = bed.client(config);
    const call = client.get(nodes, n);
    setTimeout(() => client.close(), 30);
    expect(await errorOf(call)).toMatchObject({ kind: "unreachable", detail: "client closed" });
  });

  test.each(["h2", "http/1.1"])("leaves nothing behind that keeps a process alive (%s)", async (protocol) => {
    const program = new URL("../../test/support/close-and-exit.ts", import.meta.url).pathname;
    const { stdout } = await promisify(execFile)(process.execPath, [program, protocol], { timeout: 20_000 });
    expect(stdout).toBe("nothing left\n");
  });
});
