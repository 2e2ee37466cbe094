import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { differencesOf, notePassed, passedStoriesVariable } from "./passed-stories.ts";

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "passed-stories-"));
  file = join(folder, "notes");
  vi.stubEnv(passedStoriesVariable, file);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

const compare = (): string[] => differencesOf(readFileSync(file, "utf8"), ["sandbox", "real"]);

describe("the lists of passed stories", () => {
  it("are the same when both rings passed the same ones, in any order and however often", () => {
    for (const name of ["a node joins", "a node leaves"]) notePassed("sandbox", name);
    for (const name of ["a node leaves", "a node joins", "a node joins"]) notePassed("real", name);
    expect(compare()).toEqual([]);
  });

  it("differ by each story that only one ring has passed", () => {
    for (const name of ["a node joins", "a node leaves"]) notePassed("sandbox", name);
    for (const name of ["a node joins", "a mesh is created"]) notePassed("real", name);
    expect(compare()).toEqual(["only on sandbox: a node leaves", "only on real: a mesh is created"]);
  });

  it("are no proof when a ring has passed nothing", () => {
    notePassed("sandbox", "a node joins");
    expect(compare()).toContain("no story passed on real");
    expect(differencesOf("", ["sandbox", "real"])).toHaveLength(2);
  });
});
