import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { deriveEndpointId } from "../../src/mesh-node/identity.ts";
import { eventually } from "../support/eventually.ts";
import { parseExposition } from "../support/exposition.ts";
import { freeUdpPort } from "./free-udp-port.ts";
import { grpcClient } from "./grpc-client.ts";
import { type NodeProcess, startNodeProcess } from "./node-process.ts";

const key = Buffer.alloc(32, 7);
const cleanups: (() => unknown)[] = [];

async function cleanUp(): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "mesh-node-"));
  cleanups.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

interface NodeWish {
  readonly name: string;
  readonly dir?: string;
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly sharedKey?: Buffer;
}

async function start({ name, dir = folder(), flags = [], env = {}, sharedKey = key }: NodeWish): Promise<NodeProcess> {
  const node = await startNodeProcess({
    flags: ["--node-id", name, "--data-dir", dir, ...flags],
    env: { PEAT_NODE_SHARED_KEY: sharedKey.toString("base64"), ...env },
  });
  cleanups.push(() => node.end("SIGKILL"));
  return node;
}

const entryOf = ({ endpointId, udp }: NodeProcess): string => `${endpointId}@${udp}`;

async function peersOf(node: NodeProcess): Promise<string[]> {
  const { peers = [] } = await node.call("ListPeers");
  return (peers as { endpointId: string }[]).map(({ endpointId }) => endpointId);
}

async function reads(node: NodeProcess, docId: string, jsonData: string): Promise<void> {
  await eventually(async () =>
    expect(await node.call("GetDocument", { collection: "c", docId })).toEqual({ jsonData }),
  );
}

const put = (node: NodeProcess, docId: string, jsonData: string) =>
  node.call("PutDocument", { collection: "c", docId, jsonData });

/** Counts who comes; it is no API server. */
async function startDoorman(): Promise<{ readonly env: Readonly<Record<string, string>>; visits(): number }> {
  let visits = 0;
  const server: Server = createServer((socket) => {
    visits++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => server.close());
  const { port } = server.address() as { readonly port: number };
  const env = { KUBERNETES_SERVICE_HOST: "127.0.0.1", KUBERNETES_SERVICE_PORT: String(port) };
  return { env, visits: () => visits };
}

describe("two nodes, one of which was told of the other", () => {
  let a: NodeProcess;
  let b: NodeProcess;
  let doorman: Awaited<ReturnType<typeof startDoorman>>;

  beforeAll(async () => {
    doorman = await startDoorman();
    a = await start({ name: "node-a", env: doorman.env });
    await put(a, "early", '{"n":1}');
    b = await start({ name: "node-b", env: doorman.env, flags: ["--peer", `nonsense,${entryOf(a)}`] });
  });
  afterAll(cleanUp);

  it("link once, and what was written before is read on both", async () => {
    await reads(b, "early", '{"n":1}');
    expect(await peersOf(a)).toEqual([b.endpointId]);
    expect(await peersOf(b)).toEqual([a.endpointId]);
  });

  it("have the ids that anybody with the key can derive", () => {
    expect([a.endpointId, b.endpointId]).toEqual([deriveEndpointId(key, "node-a"), deriveEndpointId(key, "node-b")]);
  });

  it("have a document that is put on either, and lose one that is deleted on either", async () => {
    await put(b, "late", '{"n":2}');
    await reads(a, "late", '{"n":2}');
    await b.call("DeleteDocument", { collection: "c", docId: "early" });
    await eventually(async () =>
      expect(await a.call("ListDocuments", { collection: "c" })).toEqual({ docIds: ["late"] }),
    );
  });

  it("tell a subscriber of one what is written on the other", async () => {
    const client = grpcClient(b.api);
    try {
      const changes = client.stream("Subscribe", { collections: ["d"] })[Symbol.asyncIterator]();
      const first = changes.next();
      await a.call("PutDocument", { collection: "d", docId: "x", jsonData: "2" });
      expect((await first).value).toMatchObject({ collection: "d", doc_id: "x", json_data: "2" });
    } finally {
      client.close();
    }
  });

  it("say in the log which peer entry cannot be read", () => {
    expect(b.lines()).toContainEqual(
      expect.objectContaining({ level: "error", msg: "peer entry cannot be read", entry: "nonsense" }),
    );
  });

  it("count what they exchange", async () => {
    expect(Number((await a.call("GetSyncStats")).bytesReceived)).toBeGreaterThan(0);
    const metrics = parseExposition((await b.get("/metrics")).body);
    expect(metrics.value("mesh_node_links")).toBe(1);
    expect(metrics.value("mesh_node_peers", { origin: "static", state: "linked" })).toBe(1);
    expect(metrics.value("mesh_node_documents")).toBe(2);
    expect(metrics.value("mesh_node_changes_merged_total")).toBeGreaterThan(0);
  });

  it("have opened no connection to the API server of the cluster, for discovery is off", async () => {
    expect(await b.call("ListDiscoveredPeers")).toMatchObject({ discoveryMode: "none", discoveryKnown: true });
    expect(doorman.visits()).toBe(0);
  });

  it("are let go of by one call and linked again by another, which may name the host", async () => {
    await a.call("DisconnectPeer", { endpointId: b.endpointId });
    expect(await peersOf(a)).toEqual([]);
    await eventually(async () => expect(await peersOf(b)).toEqual([]));
    const addresses = [b.udp.replace("127.0.0.1", "localhost")];
    await a.call("ConnectPeer", { endpointId: b.endpointId, addresses });
    expect(await peersOf(a)).toEqual([b.endpointId]);
  });

  it("say goodbye when they are told to stop, end with 0 and have printed no secret", async () => {
    expect(await b.end("SIGTERM")).toBe(0);
    await eventually(async () => expect(await peersOf(a)).toEqual([]), { withinMs: 3_000 });
    expect(b.lines().at(-1)).toMatchObject({ msg: "mesh node stopped" });
    expect(JSON.stringify([...a.lines(), ...b.lines()])).not.toContain(key.toString("base64"));
  });
});

describe("a node that was killed", () => {
  afterEach(cleanUp);

  it("comes back as the same one, with what it had and what was written meanwhile", async () => {
    const dir = folder();
    const flags = ["--iroh-udp-port", String(await freeUdpPort())];
    const a = await start({ name: "node-a", dir, flags });
    const b = await start({ name: "node-b", flags: ["--peer", entryOf(a)] });
    await put(a, "kept", "1");
    await reads(b, "kept", "1");
    await a.end("SIGKILL");
    await put(b, "meanwhile", "2");
    const again = await start({ name: "node-a", dir, flags });
    expect(again.endpointId).toBe(a.endpointId);
    await reads(again, "kept", "1");
    await reads(again, "meanwhile", "2");
  });
});

describe("a node that dials one of another key or formation", () => {
  afterEach(cleanUp);

  it.each<[string, Omit<NodeWish, "name">]>([
    ["key", { sharedKey: Buffer.alloc(32, 8) }],
    ["formation", { flags: ["--app-id", "other"] }],
  ])("(%s) is not linked, gets nothing, and says why once", async (_, other) => {
    const a = await start({ name: "node-a" });
    await put(a, "secret", "1");
    const b = await start({ name: "node-b", ...other, flags: [...(other.flags ?? []), "--peer", entryOf(a)] });
    const waiting = { state: "PEER_LINK_STATE_WAITING", reason: "FormationNotProven" };
    await eventually(async () => expect(await b.call("ListDiscoveredPeers")).toMatchObject({ peers: [waiting] }));
    expect(await peersOf(a)).toEqual([]);
    expect(await b.call("GetDocument", { collection: "c", docId: "secret" })).toEqual({});
    expect(b.lines().filter(({ reason }) => reason === "FormationNotProven")).toHaveLength(1);
  });
});

describe("kubernetes mode outside a cluster", () => {
  afterEach(cleanUp);

  it("runs, says why it sees nobody, and links its static peers", async () => {
    const a = await start({ name: "node-a" });
    const b = await start({ name: "node-b", flags: ["--discovery-mode", "kubernetes", "--peer", entryOf(a)] });
    await eventually(async () => expect(await peersOf(b)).toEqual([a.endpointId]));
    expect(await b.call("ListDiscoveredPeers")).toMatchObject({
      discoveryMode: "kubernetes",
      discoveryProblem: expect.stringContaining("NotInCluster"),
    });
    expect((await b.get("/readyz")).status).toBe(200);
  });
});

describe("a node that cannot start", () => {
  afterEach(cleanUp);

  it("says why and ends with 1", async () => {
    const dir = folder();
    const a = await start({ name: "node-a", dir });
    const port = a.udp.slice(a.udp.lastIndexOf(":") + 1);
    await expect(start({ name: "node-b", dir })).rejects.toThrow(/code 1; .*in use/);
    const sameApi = start({ name: "node-b", flags: ["--listen", `tcp://${a.api}`] });
    await expect(sameApi).rejects.toThrow(/code 1; .*cannot listen on tcp/);
    const sameUdp = start({ name: "node-b", flags: ["--iroh-udp-port", port] });
    await expect(sameUdp).rejects.toThrow(/code 1; .*cannot listen on UDP/);
  });
});
