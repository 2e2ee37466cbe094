import { describe, expect, it, vi } from "vitest";
import { remembered, rememberedEach, steadily } from "./remembered.ts";

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

describe("what is answered steadily", () => {
  it("is the answer before while the next says the same, and else the next", () => {
    const ask = steadily(({ text }: { text: string }) => ({ letters: [...text.toLowerCase()] }));
    const first = ask({ text: "ab" });
    expect(ask({ text: "AB" })).toBe(first);
    expect(ask({ text: "abc" })).toEqual({ letters: ["a", "b", "c"] });
  });
});

describe("what is remembered of each member of a list", () => {
  const asking = () => {
    const work = vi.fn((one: string, other: string | undefined, { sign }: { sign: string }) => one + sign + other);
    return { work, ask: rememberedEach(work) };
  };

  it("is worked out again only for those that differ in their place, or whose partner does", () => {
    const { work, ask } = asking();
    const around = { sign: "-" };
    ask(["a", "b", "c", "d"], { others: ["1", "2", "3", "4"], around });
    work.mockClear();
    expect(ask(["a", "x", "c", "d"], { others: ["1", "2", "3", "9"], around })).toEqual(["a-1", "x-2", "c-3", "d-9"]);
    expect(work.mock.calls.map(([one]) => one)).toEqual(["x", "d"]);
  });

  it("is the same list while it says the same", () => {
    const ask = rememberedEach((text: string) => text.length);
    const first = ask(["a", "b"]);
    expect([ask(["a", "b"]), ask(["a", "x"])]).toEqual([first, first]);
    expect(ask(["a", "x"])).toBe(first);
    expect(ask(["a", "xy"])).toEqual([1, 2]);
    expect(ask(["a"])).toEqual([1]);
  });

  it("is worked out again for all of them in other surroundings", () => {
    const { ask } = asking();
    ask(["a", "b"], { others: ["1", "2"], around: { sign: "-" } });
    expect(ask(["a", "b"], { others: ["1", "2"], around: { sign: "+" } })).toEqual(["a+1", "b+2"]);
  });

  it.each([[["a"]], [["a", "b", "c"]], [["b", "a"]], [[]]])("is right for a list that became %j", (ones) => {
    const { ask } = asking();
    const before = ask(["a", "b"], { around: { sign: "-" } });
    expect(ask(ones, { around: { sign: "-" } })).toEqual(ones.map((one) => `${one}-undefined`));
    expect(before).toEqual(["a-undefined", "b-undefined"]);
  });
});
