import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { buildMeshNode } from "../../scripts/build-mesh-node.ts";
import { startNodeProcess } from "./node-process.ts";

const folder = mkdtempSync(join(tmpdir(), "mesh-node-bundle-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the folder that is shipped", () => {
  it("runs a node where there is no checkout", async () => {
    const file = await buildMeshNode(join(folder, "program"));
    expect(statSync(file).mode & 0o111).not.toBe(0);
    const node = await startNodeProcess({
      flags: ["--data-dir", join(folder, "data")],
      env: { POD_NAME: "pod-a" },
      program: [process.execPath, file],
    });
    try {
      await node.call("PutDocument", { collection: "c", docId: "d", jsonData: '{"n":1}' });
      expect(await node.call("GetDocument", { collection: "c", docId: "d" })).toEqual({ jsonData: '{"n":1}' });
      expect(await node.call("GetStatus")).toMatchObject({ nodeId: "pod-a", endpointAddr: node.endpointId });
    } finally {
      expect(await node.end("SIGTERM")).toBe(0);
    }
  });
});
