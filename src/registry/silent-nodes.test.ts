import { describe, expect, it } from "vitest";
import { aNode } from "../../test/support/build.ts";
import { SilentNodes, silentAfterMs } from "./silent-nodes.ts";

const beating = aNode(1, 0);
const quiet = aNode(1, 1);
const nodes = [
  { facts: beating, discovered: "", beats: true },
  { facts: quiet, discovered: "", beats: false },
];

function swept(silent: SilentNodes, nowMs: number): boolean {
  return silent.sweep({ nodes, heardAtMs: () => 0, nowMs });
}

describe("a node that falls silent", () => {
  it("is noticed by a sweep when Kilo has missed its beats, and only then", () => {
    const silent = new SilentNodes();
    expect(swept(silent, silentAfterMs - 1)).toBe(false);
    expect(swept(silent, silentAfterMs)).toBe(true);
    expect([...silent.current]).toEqual([beating.name]);
  });

  it("is news once, and once more when it is heard again", () => {
    const silent = new SilentNodes();
    swept(silent, silentAfterMs);
    expect(swept(silent, silentAfterMs + 1)).toBe(false);
    expect(swept(silent, 1)).toBe(true);
    expect(silent.current.size).toBe(0);
  });

  it("is not one on which Kilo never left a sign: its silence says nothing", () => {
    const silent = new SilentNodes();
    swept(silent, silentAfterMs * 10);
    expect(silent.current.has(quiet.name)).toBe(false);
  });
});
