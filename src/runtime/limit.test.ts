import { expect, test } from "vitest";
import { mapLimited } from "./limit.ts";

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test("never more than the limit run at once, results keep their order, and all get done", async () => {
  let running = 0;
  let most = 0;
  const results = await mapLimited([5, 3, 9, 1, 7, 2], 2, async (turns) => {
    most = Math.max(most, ++running);
    for (let i = 0; i < turns; i++) await turn();
    running--;
    return turns * 10;
  });
  expect(results).toEqual([50, 30, 90, 10, 70, 20]);
  expect(most).toBe(2);
});

test("a failure is thrown, and nothing more is begun", async () => {
  const begun: number[] = [];
  const run = mapLimited([1, 2, 3, 4], 1, async (item) => {
    begun.push(item);
    if (item === 2) throw new Error("two");
  });
  await expect(run).rejects.toThrow("two");
  expect(begun).toEqual([1, 2]);
});

test("what runs beside a failure ends, and takes nothing more", async () => {
  const begun: number[] = [];
  const run = mapLimited([1, 2, 3, 4, 5], 2, async (item) => {
    begun.push(item);
    await turn();
    if (item === 1) throw new Error("one");
  });
  await expect(run).rejects.toThrow("one");
  await turn();
  expect(begun).toEqual([1, 2]);
});

test("nothing to do is done at once", async () => {
  expect(await mapLimited([], 8, async () => "never")).toEqual([]);
});

test("a limit below one is refused", async () => {
  await expect(mapLimited([1], 0, async () => 1)).rejects.toThrow("at least 1");
  await expect(mapLimited([1], Number.NaN, async () => 1)).rejects.toThrow("at least 1");
});
