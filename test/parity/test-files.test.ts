import { globSync } from "node:fs";
import { matchesGlob } from "node:path";
import { describe, expect, it } from "vitest";
import campaign from "../../vitest.campaign.config.ts";
import unit from "../../vitest.config.ts";
import real from "../../vitest.real.config.ts";

type Config = typeof unit;

function runs({ test }: Config, file: string): boolean {
  const matches = (patterns: readonly string[] = []): boolean => patterns.some((pattern) => matchesGlob(file, pattern));
  return matches(test?.include) && !matches(test?.exclude);
}

const files = globSync("{src,test,e2e,bench,scripts}/**/*.test.ts");

describe("every test file", () => {
  it("is run by one of the three configurations", () => {
    expect(files.length).toBeGreaterThan(50);
    expect(files.filter((file) => ![unit, real, campaign].some((config) => runs(config, file)))).toEqual([]);
  });

  it("of the commands and of the sources is run by npm test, unless it needs a real API server", () => {
    const sources = files.filter((file) => file.startsWith("src/") && !file.endsWith(".real.test.ts"));
    expect(sources.filter((file) => !runs(unit, file))).toEqual([]);
    expect(runs(unit, "src/cli/anything.test.ts")).toBe(true);
  });
});
