import { describe, expect, it } from "vitest";
import { sameJson } from "./same-json.ts";

describe("two values of JSON", () => {
  it.each([
    ["texts", "a", "a"],
    ["nulls", null, null],
    ["lists", [1, "2", null], [1, "2", null]],
    ["maps in another order", { a: 1, b: { c: [] } }, { b: { c: [] }, a: 1 }],
  ])("are the same: %s", (_, a, b) => {
    expect(sameJson(a, b)).toBe(true);
  });

  it.each([
    ["another text", "a", "b"],
    ["a number and its text", 1, "1"],
    ["null and an empty map", null, {}],
    ["an empty list and an empty map", [], {}],
    ["a longer list", [1], [1, 2]],
    ["another order in a list", [1, 2], [2, 1]],
    ["one field more", { a: 1 }, { a: 1, b: 2 }],
    ["one field less", { a: 1, b: 2 }, { a: 1 }],
    ["another field", { a: 1, b: 2 }, { a: 1, c: 2 }],
    ["a field that every object inherits", JSON.parse('{"toString":null}'), { a: null }],
    ["a difference deep inside", { a: [{ b: 1 }] }, { a: [{ b: 2 }] }],
  ])("differ: %s", (_, a, b) => {
    expect(sameJson(a, b)).toBe(false);
    expect(sameJson(b, a)).toBe(false);
  });

  it("are the same but for fields that are passed over, which count further inside", () => {
    expect(sameJson({ a: 1, x: 1 }, { a: 1, x: 2 }, ["x"])).toBe(true);
    expect(sameJson({ a: 1, x: 1 }, { a: 1 }, ["x"])).toBe(true);
    expect(sameJson({ a: { x: 1 } }, { a: { x: 2 } }, ["x"])).toBe(false);
  });
});
