import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-node";
import { afterEach, describe, expect, it } from "vitest";
import { grpcClient } from "../../../test/mesh-node/grpc-client.ts";
import { MemoryDocuments } from "../../../test/mesh-node/memory-documents.ts";
import { anId, sidecarPorts } from "../../../test/mesh-node/sidecar-ports.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { parseExposition } from "../../../test/support/exposition.ts";
import { logTail } from "../../../test/support/log-tail.ts";
import { parseListen } from "../config/config.ts";
import { PeatSidecar } from "../gen/peat/sidecar/v1/sidecar_pb.ts";
import { NodeMetrics } from "../node-metrics.ts";
import type { SidecarPorts } from "./api-ports.ts";
import { type HttpSide, startHttp } from "./http.ts";

const cleanups: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function serve(overrides: Partial<SidecarPorts> = {}, listen = "tcp://127.0.0.1:0") {
  const { log, lines } = logTail();
  const metrics = new NodeMetrics();
  const ports = sidecarPorts(overrides);
  const http: HttpSide = await startHttp({ listen: parseListen(listen), ports, metrics, log });
  cleanups.push(() => http.stop());
  const host = http.address.slice("tcp://".length);
  return { http, host, url: `http://${host}`, lines, metrics };
}

async function post(url: string, method: string, body: unknown) {
  const response = await fetch(`${url}/peat.sidecar.v1.PeatSidecar/${method}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Readonly<Record<string, unknown>> };
}

function grpc(host: string) {
  const client = grpcClient(host);
  cleanups.push(() => client.close());
  return client;
}

const other = "b".repeat(64);

describe("a person with curl", () => {
  it("puts a document and gets it back", async () => {
    const { url } = await serve();
    const put = { collection: "tracks", doc_id: "t1", json_data: '{"speed":3}' };
    expect(await post(url, "PutDocument", put)).toEqual({ status: 200, body: {} });
    const document = { collection: "tracks", docId: "t1" };
    expect(await post(url, "GetDocument", document)).toEqual({ status: 200, body: { jsonData: '{"speed":3}' } });
    expect((await post(url, "ListDocuments", { collection: "tracks" })).body).toEqual({ docIds: ["t1"] });
    expect(await post(url, "DeleteDocument", document)).toEqual({ status: 200, body: {} });
    expect(await post(url, "GetDocument", document)).toEqual({ status: 200, body: {} });
  });

  it("reads who the node is", async () => {
    const { url } = await serve();
    expect((await post(url, "GetStatus", {})).body).toEqual({
      nodeId: "node-a",
      endpointAddr: "a".repeat(64),
      syncActive: true,
      phase: "NODE_PHASE_READY",
    });
  });

  it.each<[string, [string, unknown], string]>([
    ["a document that is no JSON", ["PutDocument", { collection: "c", docId: "d", jsonData: "{" }], "not JSON"],
    ["a request that is no JSON", ["PutDocument", "{"], "cannot decode"],
    ["an id that is none", ["ConnectPeer", { endpointId: "xyz", addresses: ["h:1"] }], "64 hexadecimal digits"],
    ["a peer without an address", ["ConnectPeer", { endpointId: other }], "at least one of addresses"],
    ["a peer with a relay alone", ["ConnectPeer", { endpointId: other, relayUrl: "https://r" }], "not supported"],
    ["an address without port", ["ConnectPeer", { endpointId: other, addresses: ["host"] }], '"host"'],
    ["the node as its own peer", ["ConnectPeer", { endpointId: "a".repeat(64), addresses: ["h:1"] }], "own"],
    ["a disconnection of nobody", ["DisconnectPeer", {}], "64 hexadecimal digits"],
  ])("is told what is wrong with %s", async (_, [method, body], expected) => {
    const { url } = await serve();
    const answer = await post(url, method, body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code: "invalid_argument", message: expect.stringContaining(expected) });
  });

  it("gets 404 for a call that is not offered", async () => {
    const { url } = await serve();
    const response = await fetch(`${url}/peat.sidecar.v1.PeatSidecar/StopSync`, { method: "POST", body: "{}" });
    expect(response.status).toBe(404);
  });

  it("is refused a message that is too large", async () => {
    const { url } = await serve();
    const jsonData = JSON.stringify("x".repeat(17 * 1024 * 1024));
    const answer = await post(url, "PutDocument", { collection: "c", docId: "d", jsonData });
    expect(answer.body).toMatchObject({ code: "resource_exhausted" });
  });
});

describe("a peer that cannot be linked", () => {
  it("is unavailable, with the reason", async () => {
    const { url } = await serve({ connect: async () => ({ reason: "DialTimeout" }) });
    const answer = await post(url, "ConnectPeer", { endpointId: "b".repeat(64), addresses: ["127.0.0.1:1"] });
    expect(answer.body).toEqual({ code: "unavailable", message: "not linked: DialTimeout" });
  });
});

describe("a bug behind a call", () => {
  it("is logged with its stack, and the client learns nothing of it", async () => {
    const documents = new MemoryDocuments();
    documents.get = () => Promise.reject(new Error("the secret is 42"));
    const { url, lines } = await serve({ documents });
    const answer = await post(url, "GetDocument", { collection: "c", docId: "d" });
    expect(answer).toEqual({ status: 500, body: { code: "internal", message: "internal error" } });
    expect(lines().join()).toContain("the secret is 42");
  });
});

describe("a gRPC client of another make", () => {
  it("puts, gets and lists documents", async () => {
    const { host } = await serve();
    const client = grpc(host);
    await client.call("PutDocument", { collection: "c", doc_id: "d", json_data: "[1]" });
    expect(await client.call("GetDocument", { collection: "c", doc_id: "d" })).toEqual({ json_data: "[1]" });
    expect(await client.call("ListDocuments", { collection: "c" })).toEqual({ doc_ids: ["d"] });
    await expect(client.call("GetDocument", { collection: "c", doc_id: "other" })).resolves.toEqual({});
  });

  it("gets codes that it knows", async () => {
    const { host } = await serve();
    const put = grpc(host).call("PutDocument", { collection: "c", doc_id: "d", json_data: "{" });
    await expect(put).rejects.toMatchObject({ code: 3, details: "the document is not JSON" });
  });

  it("sees what a collection holds and then each change, and is let go of when it leaves", async () => {
    const documents = new MemoryDocuments();
    await documents.put("c", "old", "1");
    const { host } = await serve({ documents });
    const stream = grpc(host).stream("Subscribe", { collections: ["c"] });
    const changes = stream[Symbol.asyncIterator]();
    expect((await changes.next()).value).toMatchObject({ doc_id: "old", change_type: "CHANGE_TYPE_UPSERT" });
    await documents.put("other", "x", "1");
    await documents.put("c", "new", "2");
    await documents.delete("c", "old");
    expect((await changes.next()).value).toMatchObject({ collection: "c", doc_id: "new", json_data: "2" });
    const last = (await changes.next()).value;
    expect(last).toMatchObject({ doc_id: "old", change_type: "CHANGE_TYPE_DELETE" });
    expect(last).not.toHaveProperty("json_data");
    stream.cancel();
    await expect(changes.next()).rejects.toMatchObject({ code: 1 });
    await eventually(() => expect(documents.subscribers).toBe(0));
  });

  it("is told that the node shuts down while it subscribes", async () => {
    const documents = new MemoryDocuments();
    await documents.put("c", "d", "1");
    const { host, http } = await serve({ documents });
    const changes = grpc(host)
      .stream("Subscribe", { collections: ["c"] })
      [Symbol.asyncIterator]();
    await changes.next();
    await http.stop();
    await expect(changes.next()).rejects.toMatchObject({ code: 14 });
    expect(documents.subscribers).toBe(0);
  });

  it("sees peers, what was skipped, and how discovery fares", async () => {
    const { host } = await serve({
      links: () => [
        {
          peer: anId("b"),
          direction: "dialed",
          since: new Date(),
          address: "10.0.0.2:4000",
          traffic: { bytesSent: 1, bytesReceived: 2 },
        },
      ],
      traffic: () => ({ bytesSent: 7, bytesReceived: 9 }),
      sight: () => ({
        mode: "kubernetes",
        discovery: { known: false, problem: "Forbidden" },
        peers: [{ id: anId("b"), addresses: ["10.0.0.2:4000"], name: "pod-b", origin: "kubernetes", state: "linked" }],
        skipped: [{ name: "pod-a", reason: "IsSelf" }],
      }),
    });
    const client = grpc(host);
    expect(await client.call("ListPeers")).toEqual({
      peers: [{ endpoint_id: "b".repeat(64), addresses: ["10.0.0.2:4000"], connected: true }],
    });
    expect(await client.call("GetSyncStats")).toMatchObject({ connected_peers: 1, bytes_sent: 7, bytes_received: 9 });
    expect(await client.call("GetStatus")).toMatchObject({ connected_peers: 1, phase: "NODE_PHASE_SYNCING" });
    expect(await client.call("ListDiscoveredPeers")).toMatchObject({
      peers: [{ name: "pod-b", origin: "PEER_ORIGIN_KUBERNETES", state: "PEER_LINK_STATE_LINKED" }],
      skipped: [{ name: "pod-a", reason: "IsSelf" }],
      discovery_mode: "kubernetes",
      discovery_problem: "Forbidden",
    });
  });
});

describe("a gRPC-Web client", () => {
  it("is served on the same address", async () => {
    const { url } = await serve();
    const client = createClient(PeatSidecar, createGrpcWebTransport({ baseUrl: url, httpVersion: "1.1" }));
    await client.putDocument({ collection: "c", docId: "d", jsonData: "{}" });
    expect(await client.getDocument({ collection: "c", docId: "d" })).toMatchObject({ jsonData: "{}" });
  });
});

describe("probes and metrics", () => {
  it("say that the node lives and is ready without any peer", async () => {
    const { url } = await serve();
    expect(await (await fetch(`${url}/healthz`)).text()).toBe("ok\n");
    expect(await (await fetch(`${url}/readyz`)).text()).toBe("ready: 0 links\n");
    expect((await fetch(`${url}/readyz`, { method: "POST" })).status).toBe(405);
    expect((await fetch(`${url}/elsewhere`)).status).toBe(404);
  });

  it("say that a node that stops is not ready", async () => {
    const { url } = await serve({ phase: () => "stopping" });
    expect((await fetch(`${url}/readyz`)).status).toBe(503);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  it("count calls and show peers by state", async () => {
    const { url, metrics } = await serve({
      sight: () => ({
        mode: "mdns",
        discovery: { known: true },
        peers: [{ id: anId("b"), addresses: [], origin: "static", state: "waiting", reason: "DialTimeout" }],
        skipped: [],
      }),
    });
    metrics.observe({ kind: "dialed", outcome: "linked", tookMs: 20 });
    metrics.observe({ kind: "dialed", outcome: "DialTimeout", tookMs: 5000 });
    metrics.observe({ kind: "refused", reason: "FormationNotProven" });
    metrics.observe({ kind: "down", reason: "Silent" });
    await post(url, "GetStatus", {});
    await post(url, "PutDocument", { collection: "c", docId: "d", jsonData: "{" });
    const said = parseExposition(await (await fetch(`${url}/metrics`)).text());
    expect(said.value("mesh_node_calls_total", { method: "GetStatus", code: "ok" })).toBe(1);
    expect(said.value("mesh_node_calls_total", { method: "PutDocument", code: "invalid_argument" })).toBe(1);
    expect(said.value("mesh_node_dials_total", { outcome: "DialTimeout" })).toBe(1);
    expect(said.value("mesh_node_dial_seconds_count")).toBe(1);
    expect(said.value("mesh_node_inbound_refused_total", { reason: "FormationNotProven" })).toBe(1);
    expect(said.value("mesh_node_links_ended_total", { reason: "Silent" })).toBe(1);
    expect(said.value("mesh_node_peers", { origin: "static", state: "waiting" })).toBe(1);
    expect(said.value("mesh_node_peers_waiting", { reason: "DialTimeout" })).toBe(1);
    expect(said.value("mesh_node_discovery_known", { mode: "mdns" })).toBe(1);
  });
});

describe("a Unix socket", () => {
  const socketIn = (): string => {
    const folder = mkdtempSync(join(tmpdir(), "mesh-node-"));
    cleanups.push(() => rmSync(folder, { recursive: true }));
    return join(folder, "api.sock");
  };

  it("serves what a port serves, and is nobody else's meanwhile", async () => {
    const path = socketIn();
    const { http } = await serve({}, `unix://${path}`);
    expect(http.address).toBe(`unix://${path}`);
    await expect(serve({}, `unix://${path}`)).rejects.toThrow(/cannot listen on unix:.*in use/);
    expect(await grpc(`unix:${path}`).call("GetStatus")).toMatchObject({ node_id: "node-a" });
    const status = await new Promise((resolve) =>
      get({ socketPath: path, path: "/healthz" }, (response) => resolve(response.resume().statusCode)),
    );
    expect(status).toBe(200);
  });

  it("that a killed node left behind is taken over", async () => {
    const path = socketIn();
    const script = "net.createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))";
    spawnSync(process.execPath, ["-e", script, path]);
    expect(existsSync(path)).toBe(true);
    await serve({}, `unix://${path}`);
    expect(await grpc(`unix:${path}`).call("GetStatus")).toMatchObject({ node_id: "node-a" });
  });
});

describe("an address that cannot be had", () => {
  it("is named with the reason", async () => {
    const { host } = await serve();
    await expect(serve({}, `tcp://${host}`)).rejects.toThrow(`cannot listen on tcp://${host}: it is in use`);
    await expect(serve({}, "unix:///nowhere/at/all.sock")).rejects.toThrow("its folder does not exist");
  });
});
