import { describe, expect, it } from "vitest";
import type { LinkReason } from "../reasons.ts";
import { DialWindow } from "./dial-window.ts";

function sizeAfter(...ends: readonly (readonly [LinkReason | undefined, number])[]): number {
  const window = new DialWindow();
  for (const [reason, failures] of ends) window.ended(reason, failures);
  return window.size;
}

describe("the number of dials under way", () => {
  it("halves when a new peer is late, and never becomes so small that one dead peer holds up the rest", () => {
    expect(sizeAfter(["DialTimeout", 0])).toBe(8);
    expect(sizeAfter(...Array.from({ length: 9 }, () => ["NoHandshake", 0] as const))).toBe(2);
  });

  it("grows by one with each link, up to what it began with", () => {
    expect(sizeAfter(["DialTimeout", 0], [undefined, 0], ["Duplicate", 0])).toBe(10);
    expect(sizeAfter([undefined, 0])).toBe(16);
  });

  it("is not changed by a peer that was late before, nor by one that refuses", () => {
    expect(sizeAfter(["DialTimeout", 1], ["FormationNotProven", 0])).toBe(16);
  });
});
