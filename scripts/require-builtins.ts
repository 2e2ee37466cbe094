import type { Plugin } from "esbuild";

/**
 * Has Node's own modules required instead of imported. An import reads every export, and those of `node:http` that are
 * loaded on demand bring a whole second HTTP client into memory: 13 MB that nobody uses.
 */
export const requireBuiltins: Plugin = {
  name: "require-builtins",
  setup(build) {
    build.onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === "import-statement" ? { path, namespace: "builtin" } : { path, external: true },
    );
    build.onLoad({ filter: /.*/, namespace: "builtin" }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)});`,
    }));
  },
};
