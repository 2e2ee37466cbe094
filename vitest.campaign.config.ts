import { defineConfig } from "vitest/config";

/** Long runs of injected faults; each prints its seed. */
export default defineConfig({
  test: { include: ["test/campaign/**/*.test.ts"], maxWorkers: 1, testTimeout: 180_000, hookTimeout: 60_000 },
});
