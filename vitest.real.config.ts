import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: [
      "{src,test,e2e}/**/*.real.test.ts",
      "e2e/control-plane/control-plane.test.ts",
      "test/contract/sandbox.test.ts",
    ],
    exclude: ["**/node_modules/**"],
    // Each file starts API servers of its own: two at a time would only make each other late.
    maxWorkers: 1,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: ["default"],
  },
});
