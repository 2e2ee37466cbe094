import { chmodSync, copyFileSync, cpSync, mkdirSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import { requireBuiltins } from "./require-builtins.ts";

const wasm = "automerge_wasm_bg.wasm";

/** The mesh node as a folder: one file, Automerge's wasm beside it, and iroh's native module as Node looks for it. */
export async function buildMeshNode(folder: string): Promise<string> {
  const outfile = join(folder, "mesh-node.mjs");
  await build({
    entryPoints: ["src/bin/mesh-node.ts"],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node22",
    sourcemap: "linked",
    legalComments: "none",
    external: ["@number0/*"],
    plugins: [requireBuiltins],
    banner: { js: banner },
  });
  chmodSync(outfile, 0o755);
  copyWasm(folder);
  copyIroh(folder);
  return outfile;
}

// CommonJS dependencies ask for require and for their folder; an ES module has neither.
const banner = [
  "#!/usr/bin/env node",
  'import { createRequire as makeRequire } from "node:module";',
  "const require = makeRequire(import.meta.url);",
  "const __dirname = import.meta.dirname;",
].join("\n");

function copyWasm(folder: string): void {
  const require = createRequire(import.meta.url);
  const entry = dirname(require.resolve("@automerge/automerge"));
  copyFileSync(join(entry, wasm), join(folder, wasm));
}

/** Of the native packages only those of this machine are installed. */
function copyIroh(folder: string): void {
  const from = "node_modules/@number0";
  for (const name of readdirSync(from)) {
    const to = join(folder, from, name);
    mkdirSync(to, { recursive: true });
    for (const file of readdirSync(join(from, name)).filter((each) =>
      /^(?:index\.js|package\.json|.*\.node)$/.test(each),
    ))
      cpSync(join(from, name, file), join(to, file));
  }
}
