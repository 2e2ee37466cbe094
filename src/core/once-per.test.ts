import { spawnSync } from "node:child_process";
import { expect, it, vi } from "vitest";
import { onceFor, onceForBoth, onceForText, oncePer, oneCopy } from "./once-per.ts";

it("a key is asked once, also when the answer is nothing", () => {
  const make = vi.fn(() => undefined);
  const answer = oncePer(make);
  expect([answer("a"), answer("a")]).toEqual([undefined, undefined]);
  expect(make).toHaveBeenCalledTimes(1);
});

it("what follows from an object is the same for the same object, and another's for an equal one", () => {
  const answer = onceFor(({ n }: { n: number }) => [n]);
  const object = { n: 1 };
  expect(answer(object)).toBe(answer(object));
  expect(answer({ n: 1 })).not.toBe(answer(object));
});

it("what follows from two objects follows from both", () => {
  const answer = onceForBoth((a: { n: number }, b: { n: number }) => [a.n, b.n]);
  const [one, other] = [{ n: 1 }, { n: 2 }];
  expect(answer(one, other)).toEqual([1, 2]);
  expect(answer(other, one)).toEqual([2, 1]);
  expect(answer(one, other)).toBe(answer(one, other));
});

it("texts share what follows from them, and thousands of different ones are not kept", () => {
  const make = vi.fn((text: string) => [text]);
  const answer = onceForText(make);
  expect(answer("a")).toBe(answer("a"));
  for (let n = 0; n < 1000; n++) answer(String(n));
  answer("a");
  expect(make.mock.calls.filter(([text]) => text === "a")).toHaveLength(2);
});

it("one copy of a text is the text, whatever it says", () => {
  for (const text of ["", "a", "__proto__", "constructor", "0", "ä".repeat(1000)]) expect(oneCopy(text)).toBe(text);
});

it("what ten repeat takes the memory of one, and none when nobody holds it", () => {
  const file = new URL("./once-per.ts", import.meta.url).href;
  const program = `
    import { oneCopy } from ${JSON.stringify(file)};
    const used = () => (gc(), process.memoryUsage().heapUsed);
    const before = used();
    let held = Array.from({ length: 10_000 }, (_, n) => oneCopy(JSON.parse(JSON.stringify("x".repeat(1000) + (n % 1000)))));
    const holding = used() - before;
    held = undefined;
    console.log(JSON.stringify({ holding, after: used() - before }));`;
  const args = ["--expose-gc", "--input-type=module", "--eval", program];
  const { stdout } = spawnSync(process.execPath, args, { encoding: "utf8" });
  const { holding, after } = JSON.parse(stdout) as { holding: number; after: number };
  expect(holding).toBeGreaterThan(1e6);
  expect(holding).toBeLessThan(3e6);
  expect(after).toBeLessThan(0.5e6);
});
