import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { namespaces } from "../../src/kube/resource.ts";
import { Discovering, envOf } from "../support/discovering.ts";
import { eventually } from "../support/eventually.ts";
import { parseExposition } from "../support/exposition.ts";
import { anEndpoint, aSlice } from "../support/slices.ts";
import { freeUdpPort } from "./free-udp-port.ts";
import { type NodeProcess, startNodeProcess } from "./node-process.ts";

const key = Buffer.alloc(32, 9).toString("base64");

/** Every pod has an address of its own on the loopback network, and all have the same port, as pods do. */
const ipOf = (pod: number): string => `127.0.7.${pod + 10}`;

let bed: Discovering;
let port: number;
let folder: string;
const nodes = new Map<number, NodeProcess>();

async function startPod(pod: number): Promise<void> {
  const env = {
    ...envOf(bed.cluster.url),
    PEAT_NODE_SERVICE_ACCOUNT_DIR: bed.pod.directory,
    PEAT_NODE_DISCOVERY_MODE: "kubernetes",
    PEAT_NODE_SHARED_KEY: key,
    POD_NAME: `peat-${pod}`,
  };
  const own = ["--iroh-udp-host", ipOf(pod), "--iroh-udp-port", String(port)];
  nodes.set(pod, await startNodeProcess({ flags: [...own, "--data-dir", join(folder, String(pod))], env }));
}

/** What the endpoint slice controller would write for these pods. */
function publish(...pods: number[]): void {
  const ports = [
    { name: "grpc", port: 50_051, protocol: "TCP" },
    { name: "iroh-quic", port, protocol: "UDP" },
  ];
  bed.put(aSlice({ endpoints: pods.map((pod) => anEndpoint(`peat-${pod}`, ipOf(pod))), ports }));
}

function node(pod: number): NodeProcess {
  const found = nodes.get(pod);
  if (!found) throw new Error(`no pod ${pod}`);
  return found;
}

async function isFullMesh(...pods: number[]): Promise<void> {
  await eventually(async () => {
    for (const pod of pods) {
      const { peers = [] } = await node(pod).call("ListPeers");
      const others = pods.filter((other) => other !== pod).map((other) => node(other).endpointId);
      expect((peers as { endpointId: string }[]).map(({ endpointId }) => endpointId)).toEqual(others.sort());
    }
  });
}

async function isReadOn(docId: string, ...pods: number[]): Promise<void> {
  await eventually(async () => {
    for (const pod of pods)
      expect(await node(pod).call("GetDocument", { collection: "c", docId })).toEqual({ jsonData: "1" });
  });
}

const put = (pod: number, docId: string) => node(pod).call("PutDocument", { collection: "c", docId, jsonData: "1" });

// Only Linux has the whole of 127.0.0.0/8.
describe.skipIf(process.platform !== "linux")("pods of a headless Service, without any static peer", () => {
  beforeAll(async () => {
    bed = await Discovering.create();
    bed.cluster.store.create(namespaces, { metadata: { name: "mesh" } });
    port = await freeUdpPort();
    folder = mkdtempSync(join(tmpdir(), "mesh-node-pods-"));
    for (const pod of [0, 1, 2]) await startPod(pod);
  });

  afterAll(async () => {
    for (const each of nodes.values()) await each.end("SIGKILL");
    await bed.stopAll();
    rmSync(folder, { recursive: true, force: true });
  });

  it("become a full mesh, and a document put on any is read on all", async () => {
    publish(0, 1, 2);
    await isFullMesh(0, 1, 2);
    await put(1, "first");
    await isReadOn("first", 0, 1, 2);
  });

  it("say who they see, and that one of them is themselves", async () => {
    const sight = await node(0).call("ListDiscoveredPeers");
    expect(sight).toMatchObject({
      discoveryMode: "kubernetes",
      discoveryKnown: true,
      skipped: [{ name: "peat-0", reason: "IsSelf" }],
    });
    expect(sight.peers).toHaveLength(2);
    const metrics = parseExposition((await node(0).get("/metrics")).body);
    expect(metrics.value("mesh_node_peers", { origin: "kubernetes", state: "linked" })).toBe(2);
    expect(metrics.value("mesh_node_discovery_known", { mode: "kubernetes" })).toBe(1);
  });

  it("keep the mesh while the API server is away, and take in a newcomer when it is back", async () => {
    await bed.cluster.stopListening();
    await startPod(3);
    await eventually(async () =>
      expect(await node(0).call("ListDiscoveredPeers")).toMatchObject({ discoveryProblem: expect.any(String) }),
    );
    await isFullMesh(0, 1, 2);
    publish(0, 1, 2, 3);
    await bed.cluster.startListening();
    await isFullMesh(0, 1, 2, 3);
    await isReadOn("first", 3);
  });

  it("let go of a pod that is gone", async () => {
    await node(3).end("SIGTERM");
    publish(0, 1, 2);
    await isFullMesh(0, 1, 2);
    expect(await node(0).call("ListDiscoveredPeers")).toMatchObject({ peers: [{}, {}] });
  });
});
