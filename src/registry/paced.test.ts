import { expect, it } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { Paced } from "./paced.ts";

it("what is asked for again and again is done at once, and then once in a while; the last wish is not lost", async () => {
  const [clock, ending] = [new FakeClock(), new AbortController()];
  const doneAt: number[] = [];
  const startMs = clock.now();
  const act = () => void doneAt.push(clock.now() - startMs);
  const paced = new Paced({ clock, betweenMs: 5000, signal: ending.signal, act });
  for (let wish = 0; wish < 120; wish++) {
    paced.ask();
    await clock.advance(100);
  }
  expect(doneAt).toEqual([0, 5000, 10_000]);
  await clock.advance(60_000);
  expect(doneAt).toEqual([0, 5000, 10_000, 15_000]);
  paced.ask();
  paced.ask();
  ending.abort();
  paced.ask();
  await clock.advance(60_000);
  expect(doneAt).toHaveLength(5);
  expect(clock.sleeping).toBe(0);
});
