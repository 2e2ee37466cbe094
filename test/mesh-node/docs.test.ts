import { readFileSync } from "node:fs";
import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { addNodeFlags } from "../../src/mesh-node/config/flags.ts";
import { PeatSidecar } from "../../src/mesh-node/gen/peat/sidecar/v1/sidecar_pb.ts";
import { nodeMetrics } from "../../src/mesh-node/metrics.ts";

const page = readFileSync("docs/reference/mesh-node.md", "utf8");

describe("the page of the mesh node", () => {
  it("has a row for every flag, call and metric", () => {
    const flags = addNodeFlags(new Command()).options.flatMap(({ long }) => long ?? []);
    const calls = PeatSidecar.methods.map(({ name }) => name);
    const rows = [...flags, ...calls, ...Object.keys(nodeMetrics)];
    expect(rows.length).toBeGreaterThan(35);
    expect(rows.filter((name) => !new RegExp(`^\\| \`${name}[ \`]`, "m").test(page))).toEqual([]);
  });

  it("has the type and labels of every metric", () => {
    const wrong = Object.entries(nodeMetrics).filter(([name, { type, labels }]) => {
      const said = labels.length === 0 ? "–" : labels.map((label) => `\`${label}\``).join(", ");
      return !page.includes(`| \`${name}\` | ${type} | ${said} |`);
    });
    expect(wrong).toEqual([]);
  });
});
