import { expect, it } from "vitest";
import { aNode } from "../../test/support/build.ts";
import { sameNodeFacts, sameToOthers } from "./node.ts";

it("that a node begins to beat is remembered, and no news to other clusters", () => {
  const before = aNode(1, 0, { beats: false });
  const after = { ...before, beats: true };
  expect(sameNodeFacts(before, after)).toBe(false);
  expect(sameToOthers(before, after)).toBe(true);
});
