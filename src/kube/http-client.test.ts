import { createSecureServer } from "node:http2";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { errorOf, TestBed } from "../../test/support/test-bed.ts";
import { answerJson, listen, type Received } from "../../test/support/test-server.ts";
import type { KubeClient } from "./client.ts";
import type { KubeError } from "./errors.ts";
import { listAll } from "./list-pages.ts";
import { configMaps, nodes, secrets } from "./resource.ts";

let bed: TestBed;

beforeAll(async () => {
  bed = await TestBed.create();
});

afterEach(() => bed.stopAll());

describe("what goes out", () => {
  interface Sent extends Received {
    readonly body: string;
  }

  async function aRecorder(): Promise<{ readonly client: KubeClient; readonly sent: Sent[] }> {
    const sent: Sent[] = [];
    const { client } = await bed.pair(async (stream, received) => {
      const body = (await stream.toArray()).join("");
      sent.push({ ...received, body });
      answerJson(stream, { metadata: { name: "a", resourceVersion: "7" }, items: [] });
    });
    return { client, sent };
  }

  test("each verb uses the method, path and body that the API documents", async () => {
    const { client, sent } = await aRecorder();
    const ref = { name: "a", namespace: "x" };
    await client.get(configMaps, ref);
    await client.create(configMaps, { metadata: ref });
    await client.replace(configMaps, { metadata: ref }, { subresource: "status" });
    await client.patch(configMaps, ref, { body: { data: null } });
    await client.delete(configMaps, ref, { uid: "u", resourceVersion: "3" });
    await client.delete(nodes, { name: "n" });
    expect(sent.map(({ method, path, body }) => [method, path, body])).toEqual([
      ["GET", "/api/v1/namespaces/x/configmaps/a", ""],
      [
        "POST",
        "/api/v1/namespaces/x/configmaps",
        JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: ref }),
      ],
      [
        "PUT",
        "/api/v1/namespaces/x/configmaps/a/status",
        JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: ref }),
      ],
      ["PATCH", "/api/v1/namespaces/x/configmaps/a", '{"data":null}'],
      [
        "DELETE",
        "/api/v1/namespaces/x/configmaps/a",
        '{"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":"u","resourceVersion":"3"}}',
      ],
      ["DELETE", "/api/v1/nodes/n", ""],
    ]);
    expect(sent[3]?.headers["content-type"]).toBe("application/merge-patch+json");
    expect(sent[0]?.headers.authorization).toBe("Bearer t-0");
  });

  test("a list asks for what its options say, and a continued list for no version", async () => {
    const { client, sent } = await aRecorder();
    await client.list(nodes, { limit: 5, labelSelector: "a=b,c", resourceVersion: "9" });
    await client.list(nodes, { limit: 5, continue: "k", resourceVersion: "9" });
    expect(sent.map(({ path }) => path)).toEqual([
      "/api/v1/nodes?labelSelector=a%3Db%2Cc&limit=5&resourceVersion=9&resourceVersionMatch=NotOlderThan",
      "/api/v1/nodes?limit=5&continue=k",
    ]);
  });

  test("a server address with a path keeps it in front of every request", async () => {
    const paths: string[] = [];
    const { server } = await bed.pair((stream, { path }) => {
      paths.push(path);
      answerJson(stream, { metadata: {} });
    });
    const client = bed.client({ ...server.config, server: `${server.config.server}/k8s/c-1` });
    await client.get(nodes, { name: "n" });
    expect(paths).toEqual(["/k8s/c-1/api/v1/nodes/n"]);
  });

  test("a client certificate is shown to the server, and its absence is named", async () => {
    const { server, client, caPem } = bed.certificates;
    const keys = { cert: server.certPem, key: server.keyPem, ca: caPem };
    const strict = createSecureServer({ ...keys, requestCert: true });
    strict.on("stream", (stream) => answerJson(stream, { metadata: { name: "n" } }));
    const { config } = bed.stops(await listen(strict, bed.certificates));
    const { certPem, keyPem } = client;
    await expect(bed.client({ ...config, certPem, keyPem }).get(nodes, { name: "n" })).resolves.toBeDefined();
    const error = await errorOf(bed.client(config).get(nodes, { name: "n" }));
    expect(error).toMatchObject({ kind: "unreachable", detail: "the server asks for a client certificate" });
  });

  test("a name that would lead elsewhere is never sent", async () => {
    const { client, sent } = await aRecorder();
    for (const name of ["", ".", "..", "a/b", "%2e"]) {
      await expect(client.delete(nodes, { name })).rejects.toThrow("not the name of a Node");
    }
    await expect(client.delete(secrets, { name: "a" })).rejects.toThrow("needs a namespace");
    await expect(client.create(secrets, { metadata: { name: "a" } })).rejects.toThrow("without a namespace");
    expect(sent).toEqual([]);
  });
});

describe("what the server refuses", () => {
  const cases: readonly [number, unknown, Partial<KubeError>][] = [
    [401, { reason: "Unauthorized" }, { kind: "unauthorized" }],
    [403, { reason: "Forbidden" }, { kind: "forbidden" }],
    [404, { reason: "NotFound" }, { kind: "not-found" }],
    [409, { reason: "Conflict" }, { kind: "conflict" }],
    [409, { reason: "AlreadyExists" }, { kind: "already-exists" }],
    [410, { reason: "Gone" }, { kind: "gone" }],
    [410, { reason: "Expired" }, { kind: "gone" }],
    [400, { message: "bad\u0007 limit" }, { kind: "invalid", causes: [{ field: "", message: "bad  limit" }] }],
    [
      422,
      { details: { causes: [{ reason: "X", field: "spec.a", message: "must be b" }] } },
      { kind: "invalid", causes: [{ field: "spec.a", message: "must be b" }] },
    ],
    [429, { details: { retryAfterSeconds: 2 } }, { kind: "too-many-requests", retryAfterMs: 2000 }],
    [500, { details: { retryAfterSeconds: 1 } }, { kind: "server", retryAfterMs: 1000 }],
    [503, {}, { kind: "server" }],
    [504, {}, { kind: "server" }],
    [504, { reason: "Timeout", details: { causes: [{ reason: "ResourceVersionTooLarge" }] } }, { kind: "timeout" }],
  ];

  test.each(cases)("HTTP %i %j has its own kind", async (status, body, expected) => {
    const { client } = await bed.pair((stream) =>
      answerJson(stream, { kind: "Status", status: "Failure", ...(body as object) }, status),
    );
    const error = await errorOf(client.get(nodes, { name: "n" }));
    expect(error).toMatchObject({ cluster: "north", verb: "get", resource: "nodes", status, ...expected });
  });

  test("Retry-After in the header counts", async () => {
    const { client } = await bed.pair((stream) => {
      stream.respond({ ":status": 429, "retry-after": "7", "content-type": "text/plain" });
      stream.end("slow down");
    });
    expect(await errorOf(client.list(nodes))).toMatchObject({ kind: "too-many-requests", retryAfterMs: 7000 });
  });

  test("a redirect is not followed", async () => {
    const paths: string[] = [];
    const { client } = await bed.pair((stream, { path }) => {
      paths.push(path);
      stream.respond({ ":status": 302, location: "https://127.0.0.1:1/elsewhere" }, { endStream: true });
    });
    const error = await errorOf(client.get(nodes, { name: "n" }));
    expect(error).toMatchObject({ kind: "server", status: 302, detail: "redirect refused" });
    expect(paths).toEqual(["/api/v1/nodes/n"]);
  });

  test("a rotated token is read again after a 401, once", async () => {
    const seen: unknown[] = [];
    const token = (refresh?: boolean) => (refresh ? "new" : "old");
    const { client } = await bed.pair(
      (stream, { headers }) => {
        seen.push(headers.authorization);
        answerJson(stream, { metadata: {} }, headers.authorization === "Bearer new" ? 200 : 401);
      },
      { config: { token } },
    );
    await client.create(nodes, { metadata: { name: "n" } });
    expect(seen).toEqual(["Bearer old", "Bearer new"]);
    const { client: fixed } = await bed.pair((stream) => answerJson(stream, {}, 401), {
      config: { token: () => "same" },
    });
    expect(await errorOf(fixed.get(nodes, { name: "n" }))).toMatchObject({ kind: "unauthorized" });
  });
});

describe("lists", () => {
  test("all pages are followed and come as one list", async () => {
    const { client } = await bed.pair((stream, { path }) => {
      const query = new URLSearchParams(path.split("?")[1]);
      const page = Number(query.get("continue") ?? 0);
      const metadata = { resourceVersion: "12", ...(page < 2 && { continue: String(page + 1) }) };
      answerJson(stream, { metadata, items: [{ metadata: { name: `n${page}` } }] });
    });
    const list = await listAll(client, nodes, { limit: 1 });
    expect(list.items.map(({ metadata }) => metadata.name)).toEqual(["n0", "n1", "n2"]);
    expect(list.metadata).toEqual({ resourceVersion: "12" });
  });

  test("an expired continue token is `gone`", async () => {
    const { client } = await bed.pair((stream, { path }) => {
      if (path.includes("continue=")) return answerJson(stream, { reason: "Expired" }, 410);
      answerJson(stream, { metadata: { resourceVersion: "1", continue: "k" }, items: null });
    });
    expect(await errorOf(listAll(client, nodes))).toMatchObject({ kind: "gone", verb: "list" });
  });

  test("JSON that is no list or no object is an error of the server", async () => {
    const { client } = await bed.pair((stream) => answerJson(stream, { hello: "world" }));
    expect(await errorOf(client.list(nodes))).toMatchObject({
      kind: "server",
      detail: "answered JSON that is no list",
    });
    expect(await errorOf(client.get(nodes, { name: "n" }))).toMatchObject({
      kind: "server",
      detail: "answered JSON that is no object",
    });
  });
});
