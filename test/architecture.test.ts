import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { brokenLayers, type SourceFile } from "./support/layers.ts";

const sources: SourceFile[] = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .map((path) => ({ path: `src/${path}`, text: readFileSync(`src/${path}`, "utf8") }));

describe("the layers", () => {
  it("hold in every source file", () => {
    expect(sources.length).toBeGreaterThan(50);
    expect(brokenLayers(sources)).toEqual([]);
  });

  it.each<[string, string, string]>([
    ["core imports outward", "src/core/x.ts", 'import { y } from "../kube/client.ts";'],
    ["core imports a built-in module", "src/core/x.ts", 'import { isIP } from "node:net";'],
    ["core reads the clock", "src/core/x.ts", "export const x = Date.now();"],
    ["core is asynchronous", "src/core/x.ts", "export async function x() {}"],
    ["kube knows a mesh", "src/kube/x.ts", 'import type { Mesh } from "../core/mesh.ts";'],
    ["the operator imports the sandbox", "src/operator/x.ts", 'const s = await import("../sandbox/sandbox.ts");'],
    ["a source imports a test's support", "src/api/x.ts", 'import { aNode } from "../../test/support/build.ts";'],
    ["the operator imports the mesh node", "src/operator/x.ts", 'import { y } from "../mesh-node/roster.ts";'],
    ["the CLI imports the mesh node", "src/cli/x.ts", 'const m = await import("../mesh-node/main.ts");'],
    ["the mesh node knows the operator", "src/mesh-node/x.ts", 'import { y } from "../core/ids.ts";'],
    ["the operator brings in native code", "src/operator/x.ts", 'import { Endpoint } from "@number0/iroh";'],
    ["the CLI brings in wasm", "src/cli/x.ts", 'const a = await import("@automerge/automerge");'],
    ["kube brings in another server", "src/kube/x.ts", 'import { Code } from "@connectrpc/connect";'],
    ["runtime brings in mDNS", "src/runtime/x.ts", 'import { Bonjour } from "bonjour-service";'],
    ["a new layer appears", "src/stuff/x.ts", 'import "../core/ids.ts";'],
    ["a file is a grab-bag", "src/core/utils.ts", ""],
    ["a file is too long", "src/core/x.ts", "\n".repeat(301)],
  ])("are broken when %s", (_, path, text) => {
    expect(brokenLayers([{ path, text }])).toHaveLength(1);
  });

  it("let the mesh node bring in what only it needs, and generated files be long", () => {
    const file = (path: string, text: string): SourceFile => ({ path, text });
    const iroh = file("src/mesh-node/transport/x.ts", 'import { Endpoint } from "@number0/iroh";');
    const generated = file("src/mesh-node/gen/x.ts", "\n".repeat(800));
    expect(brokenLayers([iroh, generated])).toEqual([]);
  });

  it("let comments speak of clocks and promises", () => {
    expect(brokenLayers([{ path: "src/core/x.ts", text: "/** No Promise, no Date.now() */\n// await" }])).toEqual([]);
  });
});
