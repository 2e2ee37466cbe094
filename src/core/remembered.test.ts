import { describe, expect, it, vi } from "vitest";
import { remembered } from "./remembered.ts";

describe("what is remembered", () => {
  const node = { name: "a" };

  it("is worked out once while every part of the question is the same, or a list of the same things", () => {
    const work = vi.fn(({ nodes }: { nodes: readonly object[]; count: number }) => nodes.length);
    const ask = remembered(work);
    expect([ask({ nodes: [node], count: 1 }), ask({ nodes: [node], count: 1 })]).toEqual([1, 1]);
    expect(work).toHaveBeenCalledTimes(1);
  });

  it.each([
    ["a thing that is another one, if an equal one", { nodes: [{ name: "a" }], count: 1 }],
    ["a list that is longer", { nodes: [node, node], count: 1 }],
    ["a list that is shorter", { nodes: [], count: 1 }],
    ["a number that differs", { nodes: [node], count: 2 }],
    ["a part that is missing", { nodes: [node] }],
    ["a part that is new", { nodes: [node], count: 1, more: true }],
  ])("is worked out again for %s", (_, question) => {
    const work = vi.fn((asked: { nodes: readonly object[]; count?: number }) => asked);
    const ask = remembered(work);
    ask({ nodes: [node], count: 1 });
    expect(ask(question)).toBe(question);
    expect(work).toHaveBeenCalledTimes(2);
  });

  it("is only the last: what was asked before that is worked out again", () => {
    const work = vi.fn(({ count }: { count: number }) => count);
    const ask = remembered(work);
    expect([1, 2, 1].map((count) => ask({ count }))).toEqual([1, 2, 1]);
    expect(work).toHaveBeenCalledTimes(3);
  });
});
