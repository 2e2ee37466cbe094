import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { tidyAtRest } from "./tidy.ts";

/** A process of which each look finds this much work done and this much heap; collecting leaves ten bytes. */
async function tidiedAt(looks: readonly { readonly busyMs: number; readonly heap: number }[]): Promise<number[]> {
  const clock = new FakeClock();
  const ending = new AbortController();
  const state = { cpuMs: 0, heapBytes: 0 };
  const tidied: number[] = [];
  const collect = (): void => {
    tidied.push(clock.now() / 5000);
    state.heapBytes = 10;
  };
  const running = tidyAtRest({ clock, collect, usage: () => ({ ...state }) }, ending.signal);
  for (const { busyMs, heap } of looks) {
    state.cpuMs += busyMs;
    state.heapBytes = heap;
    await clock.advance(5000);
  }
  ending.abort();
  await running;
  return tidied;
}

test("a heap that grew is tidied when the process has come to rest, and not before", async () => {
  const looks = [
    { busyMs: 4000, heap: 30 },
    { busyMs: 2000, heap: 40 },
    { busyMs: 100, heap: 40 },
  ];
  expect(await tidiedAt(looks)).toEqual([3]);
});

test("after a burst it is tidied once more, and then left alone", async () => {
  const looks = [40, 10, 10].map((heap) => ({ busyMs: 50, heap }));
  expect(await tidiedAt(looks)).toEqual([1, 2]);
});

test("one that is tidy is left alone until it has grown by half", async () => {
  const looks = [10, ...Array(12).fill(15), 16, 11].map((heap) => ({ busyMs: 50, heap }));
  expect(await tidiedAt(looks)).toEqual([1, 14, 15]);
});

test("one that grows again and again is stopped once a minute: a change that comes just then has to wait", async () => {
  const looks = [10, ...Array(24).fill(14.9)].map((heap) => ({ busyMs: 50, heap }));
  expect(await tidiedAt(looks)).toEqual([1]);
  const grown = [10, ...Array(24).fill(15.1)].map((heap) => ({ busyMs: 50, heap }));
  expect(await tidiedAt(grown)).toEqual([1, 13, 14]);
});

test("a process collects its heap without having been started for it", () => {
  const program = `
    import { systemClock } from "./src/runtime/clock.ts";
    import { tidyAtRest } from "./src/runtime/tidy.ts";
    const ending = new AbortController();
    let garbage = Array.from({ length: 1e6 }, (_, index) => ({ index }));
    const before = process.memoryUsage().heapTotal;
    const hurried = { ...systemClock, sleep: (_, signal) => systemClock.sleep(1, signal) };
    tidyAtRest({ clock: hurried, usage: () => ({ cpuMs: 0, heapBytes: 1 }) }, ending.signal);
    garbage = undefined;
    await systemClock.sleep(100, ending.signal);
    ending.abort();
    console.log(process.memoryUsage().heapTotal / before);
  `;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], { encoding: "utf8" });
  expect(Number(stdout)).toBeLessThan(0.5);
});
