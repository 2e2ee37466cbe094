import type { ServerResponse } from "node:http";
import { afterEach, beforeAll, expect, test } from "vitest";
import { eventually } from "../../test/support/eventually.ts";
import { errorOf, TestBed } from "../../test/support/test-bed.ts";
import { startHttp1Server, startHttp2Server } from "../../test/support/test-server.ts";
import { nodes } from "./resource.ts";

let bed: TestBed;
const n = { name: "n" };
const json = { "content-type": "application/json" };

beforeAll(async () => {
  bed = await TestBed.create();
});

afterEach(() => bed.stopAll());

async function aPair() {
  const watches: ServerResponse[] = [];
  const bodies: string[] = [];
  const server = await startHttp1Server(bed.certificates, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      bodies.push(Buffer.concat(chunks).toString());
      response.writeHead(200, json);
      if (request.url?.includes("hang")) return;
      if (!request.url?.includes("watch=1")) return response.end('{"metadata":{"name":"n"}}');
      response.write("first\n");
      watches.push(response);
    });
  });
  bed.stops(server);
  return { server, watches, bodies, client: bed.client(server.config) };
}

test("a server without HTTP/2 is served over HTTP/1.1, one connection for calls in a row", async () => {
  const { client, server, bodies } = await aPair();
  await client.get(nodes, n);
  await client.create(nodes, { metadata: { name: "ñ" } });
  expect(await client.get(nodes, n)).toEqual({ metadata: { name: "n" } });
  expect(JSON.parse(bodies[1] ?? "")).toMatchObject({ kind: "Node", metadata: { name: "ñ" } });
  expect(server.connections()).toBe(1);
});

test("a watch has its connection for itself and calls go on beside it", async () => {
  const { client, server, watches } = await aPair();
  const { signal } = new AbortController();
  const chunks = await client.watch(nodes, { signal, resourceVersion: "1", timeoutSeconds: 60 });
  await client.get(nodes, n);
  await client.get(nodes, n);
  expect(server.connections()).toBe(2);
  watches[0]?.end("last\n");
  const received: Uint8Array[] = [];
  for await (const chunk of chunks) received.push(chunk);
  expect(Buffer.concat(received).toString()).toBe("first\nlast\n");
});

test("a watch whose connection is cut throws", async () => {
  const { client, server } = await aPair();
  const { signal } = new AbortController();
  const chunks = await client.watch(nodes, { signal, resourceVersion: "1", timeoutSeconds: 60 });
  server.cut();
  const reading = (async () => {
    for await (const _ of chunks);
  })();
  expect(await errorOf(reading)).toMatchObject({ kind: "unreachable", verb: "watch" });
});

test("an aborted watch throws the reason and gives its connection up", async () => {
  const { client, watches } = await aPair();
  const abort = new AbortController();
  const chunks = await client.watch(nodes, { signal: abort.signal, resourceVersion: "1", timeoutSeconds: 60 });
  abort.abort(new Error("enough"));
  const reading = (async () => {
    for await (const _ of chunks);
  })();
  await expect(reading).rejects.toThrow("enough");
  await eventually(() => expect(watches[0]?.destroyed).toBe(true));
});

test("a body that does not come ends the call by its deadline", async () => {
  const { client } = await aPair();
  expect(await errorOf(client.get(nodes, { name: "hang" }, { deadlineMs: 100 }))).toMatchObject({ kind: "timeout" });
});

test("a kept connection that the server closed meanwhile costs no read", async () => {
  const { client, server } = await aPair();
  for (let round = 0; round < 5; round++) {
    await client.get(nodes, n);
    server.cut();
  }
  await client.get(nodes, n);
});

test("a server that learns HTTP/2 is found out at the next connection", async () => {
  const { client, server } = await aPair();
  await client.get(nodes, n);
  await server.close();
  expect(await errorOf(client.get(nodes, n))).toMatchObject({ kind: "unreachable" });
  const upgraded = bed.stops(
    await startHttp2Server(
      bed.certificates,
      (stream) => {
        stream.respond({ ":status": 200, ...json });
        stream.end('{"metadata":{"name":"upgraded"}}');
      },
      { port: server.port },
    ),
  );
  expect(await client.get(nodes, n)).toEqual({ metadata: { name: "upgraded" } });
  expect(upgraded.sessions()).toHaveLength(1);
});
