import { expect, test } from "vitest";
import { NotingLogger } from "../../test/support/an-informer.ts";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { type Part, startInOrder } from "./lifecycle.ts";

function aProgram() {
  const told: string[] = [];
  const part = (name: string, overrides: Partial<Part> = {}): Part => ({
    name,
    start: async () => void told.push(`+${name}`),
    stop: async () => void told.push(`-${name}`),
    ...overrides,
  });
  return { told, part, clock: new FakeClock(), log: new NotingLogger() };
}

test("parts start in order and stop in reverse, once", async () => {
  const { told, part, clock, log } = aProgram();
  const running = await startInOrder([part("a"), part("b"), part("c")], { clock, log });
  expect(running.signal.aborted).toBe(false);
  await Promise.all([running.stop(), running.stop()]);
  expect(running.signal.aborted).toBe(true);
  expect(told).toEqual(["+a", "+b", "+c", "-c", "-b", "-a"]);
  expect(clock.sleeping).toBe(0);
});

test("when a part fails to start, those before it are stopped and the error is thrown", async () => {
  const { told, part, clock, log } = aProgram();
  const broken = part("b", { start: () => Promise.reject(new Error("port taken")) });
  await expect(startInOrder([part("a"), broken, part("c")], { clock, log })).rejects.toThrow("port taken");
  expect(told).toEqual(["+a", "-a"]);
});

test("a part that hangs or throws while stopping does not keep the others from stopping", async () => {
  const { told, part, clock, log } = aProgram();
  const hanging = part("hanging", { stop: () => new Promise(() => undefined) });
  const throwing = part("throwing", {
    stop: () => {
      throw new Error("no");
    },
  });
  const running = await startInOrder([part("a"), hanging, throwing], { clock, log, stopWithinMs: 3_000 });
  const stopped = running.stop();
  await clock.advance(3_000);
  await stopped;
  expect(told).toEqual(["+a", "+hanging", "+throwing", "-a"]);
  expect(log.lines.map(({ fields }) => fields?.part)).toEqual(["throwing", "hanging"]);
});
