import { expect, it } from "vitest";
import { aNode } from "../../test/support/build.ts";
import { sameNodeRecord } from "./node.ts";

it("that a node begins to beat, or has met somebody, is remembered", () => {
  const before = { facts: aNode(1, 0), discovered: "", beats: false };
  expect(sameNodeRecord(before, { ...before, facts: aNode(1, 0) })).toBe(true);
  expect(sameNodeRecord(before, { ...before, beats: true })).toBe(false);
  expect(sameNodeRecord(before, { ...before, discovered: "{}" })).toBe(false);
});
