import { resolve } from "node:path";
import type { Plugin } from "esbuild";
import { objectSchema } from "../src/api/crd-schema.ts";

/** What is the same at every start is worked out when the bundle is built: the schema costs a start some 15 ms. */
export const settleAtBuild: Plugin = {
  name: "settle-at-build",
  setup(build) {
    build.onLoad({ filter: /[/\\]src[/\\]api[/\\]crd-schema\.ts$/ }, () => ({
      contents: `export const objectSchema = () => (${JSON.stringify(objectSchema())});`,
      resolveDir: resolve("src/api"),
    }));
  },
};
