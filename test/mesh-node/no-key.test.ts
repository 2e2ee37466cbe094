import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { namespaces } from "../../src/kube/resource.ts";
import { Discovering, envOf } from "../support/discovering.ts";
import { eventually } from "../support/eventually.ts";
import { parseExposition } from "../support/exposition.ts";
import { anEndpoint, aSlice } from "../support/slices.ts";
import { type NodeProcess, startNodeProcess } from "./node-process.ts";

let bed: Discovering;
let folder: string;
const nodes: NodeProcess[] = [];

beforeEach(async () => {
  bed = await Discovering.create();
  bed.cluster.store.create(namespaces, { metadata: { name: "mesh" } });
  folder = mkdtempSync(join(tmpdir(), "mesh-node-no-key-"));
});

afterEach(async () => {
  for (const node of nodes.splice(0)) await node.end("SIGKILL");
  await bed.stopAll();
  rmSync(folder, { recursive: true, force: true });
});

async function start(
  name: string,
  flags: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<NodeProcess> {
  const node = await startNodeProcess({ flags: ["--data-dir", join(folder, name), ...flags], env });
  nodes.push(node);
  return node;
}

/** The declared one is at the address of a running node; nobody is at the other. */
function publish(declared: NodeProcess): void {
  const port = Number(declared.udp.split(":").at(-1));
  bed.put(
    aSlice({
      endpoints: [anEndpoint("peat-1", "127.0.0.1"), anEndpoint("peat-2", "127.0.7.99")],
      ports: [{ name: "iroh-quic", port, protocol: "UDP" }],
      annotations: { "peat.endpoint_id.peat-1": declared.endpointId },
    }),
  );
}

it("a node in a cluster without a shared key says so, links whose id is declared, and counts the others", async () => {
  const declared = await start("declared");
  publish(declared);
  const env = { ...envOf(bed.cluster.url), POD_NAME: "peat-0" };
  const node = await start("node", ["--discovery-mode", "kubernetes", "--service-account-dir", bed.pod.directory], env);
  await eventually(async () =>
    expect(await node.call("ListPeers")).toMatchObject({ peers: [{ endpointId: declared.endpointId }] }),
  );
  expect(await node.call("ListDiscoveredPeers")).toMatchObject({ skipped: [{ name: "peat-2", reason: "NoIdentity" }] });
  const metrics = parseExposition((await node.get("/metrics")).body);
  expect(metrics.value("mesh_node_members_skipped", { reason: "NoIdentity" })).toBe(1);
  const warnings = node.lines().filter(({ level }) => level === "warn");
  expect(warnings).toContainEqual(expect.objectContaining({ msg: expect.stringContaining("no shared key") }));
  expect(warnings).toContainEqual(expect.objectContaining({ name: "peat-2", reason: "NoIdentity" }));
});
