// `npm run build`: the CLI and the operator of the image, each one file that needs nothing but Node, and the mesh node as
// a folder.
import { chmodSync, rmSync, statSync } from "node:fs";
import { build } from "esbuild";
import { buildMeshNode } from "./build-mesh-node.ts";
import { requireBuiltins } from "./require-builtins.ts";
import { settleAtBuild } from "./settle-at-build.ts";

const bundles = { "kilo-clustermesh": "src/bin/cli.ts", operator: "src/bin/operator.ts" };
const outdir = "dist";

rmSync(outdir, { recursive: true, force: true });
await build({
  entryPoints: bundles,
  outdir,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node22",
  sourcemap: "linked",
  legalComments: "none",
  // Half the size, which stays in memory as long as the operator runs; names stay, for those who read a stack.
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 200,
  plugins: [requireBuiltins, settleAtBuild],
  // Required modules and CommonJS dependencies ask for require; an ES module has none.
  banner: {
    js: '#!/usr/bin/env node\nimport { createRequire as makeRequire } from "node:module";\nconst require = makeRequire(import.meta.url);',
  },
});
const files = Object.keys(bundles).map((name) => `${outdir}/${name}.mjs`);
for (const file of files) chmodSync(file, 0o755);
for (const file of [...files, await buildMeshNode(`${outdir}/mesh-node`)])
  console.log(`${file} ${Math.round(statSync(file).size / 1024)} KiB`);
