import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { generateProto } from "../../scripts/generate-proto.ts";

const generated = "src/mesh-node/gen";

function filesIn(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}

describe("the proto", () => {
  it("has the generated code that it makes (npm run proto)", () => {
    const folder = mkdtempSync(join(tmpdir(), "proto-"));
    try {
      generateProto(folder);
      const made = filesIn(join(folder, generated));
      expect(Object.keys(made)).toEqual(["peat/sidecar/v1/sidecar_pb.ts"]);
      expect(filesIn(generated)).toEqual(made);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
