import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { operatorMetrics } from "./metrics.ts";

const page = readFileSync("docs/reference/metrics.md", "utf8");
const rows = Object.entries(operatorMetrics);

describe("every metric", () => {
  it.each(rows)("%s is in the reference with its type and labels", (name, { type, labels }) => {
    const names = labels.length > 0 ? labels.map((label) => `\`${label}\``).join(", ") : "–";
    expect(page).toContain(`| \`${name}\` | ${type} | ${names} |`);
  });

  it.each(rows)("%s has a sentence of help and a name as Prometheus wants it", (name, { type, help }) => {
    expect(help).toMatch(/^[A-Z0-9].*\.$/);
    expect(name).toMatch(/^kilo_clustermesh_[a-z_]+$/);
    expect(name.endsWith("_total")).toBe(type === "counter");
  });

  it("is in the code, if it is in the reference", () => {
    const named = [...page.matchAll(/^\| `(kilo_clustermesh_\w+)`/gm)].map((match) => match[1]);
    expect(named.filter((name) => !(name && name in operatorMetrics))).toEqual([]);
  });
});
