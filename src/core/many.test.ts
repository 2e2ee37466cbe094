import { expect, it } from "vitest";
import { joined, leastOf } from "./many.ts";
import { claimSteps, stakeOf, type Wanted } from "./stake.ts";

const many = 300_000;

it("lists of any length are joined, and have a least number", () => {
  const lists = Array.from({ length: many }, (_, index) => [index, -index]);
  expect(joined(lists)).toHaveLength(2 * many);
  expect(joined(lists).slice(0, 4)).toEqual([0, -0, 1, -1]);
  expect(leastOf(joined(lists))).toBe(1 - many);
  expect([leastOf([]), joined([])]).toEqual([Number.POSITIVE_INFINITY, []]);
});

it("a source may have as many nodes as it likes", () => {
  const wanted = { claims: [], peer: { routes: [] }, isThere: true, isNamed: true } as unknown as Wanted;
  const wantedEach = () => Array.from({ length: many }, () => wanted);
  expect(stakeOf({ candidates: [], helds: [] }, { ...claimSteps(), wantedEach })).toMatchObject({
    claims: [],
    peers: [],
  });
});
