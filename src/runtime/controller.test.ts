import { expect, test } from "vitest";
import { NotingLogger } from "../../test/support/an-informer.ts";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { type ControllerOptions, runController } from "./controller.ts";
import { done, failed, type Outcome, waiting } from "./outcome.ts";
import { WorkQueue } from "./queue.ts";

function aController(outcomes: readonly (Outcome | Error)[], overrides: Partial<ControllerOptions<string>> = {}) {
  const clock = new FakeClock();
  const log = new NotingLogger();
  const queue = new WorkQueue<string>({ clock, parallel: 1, random: () => 1, backoff: { firstMs: 100, maxMs: 1_000 } });
  const runs: number[] = [];
  const left = [...outcomes];
  runController({
    name: "test",
    queue,
    log,
    reconcile: async () => {
      runs.push(clock.now());
      const outcome = left.shift() ?? done;
      if (outcome instanceof Error) throw outcome;
      return outcome;
    },
    ...overrides,
  });
  return { clock, log, queue, runs };
}

test("done is done", async () => {
  const { clock, queue, runs } = aController([done]);
  queue.add("a");
  await clock.advance(10_000);
  expect(runs).toEqual([0]);
});

test("waiting comes back after its time, without a warning and without growing pauses", async () => {
  const { clock, log, queue, runs } = aController([waiting("PeersUnknown", 700), waiting("PeersUnknown", 700), done]);
  queue.add("a");
  await clock.advance(10_000);
  expect(runs).toEqual([0, 700, 1_400]);
  expect(log.of("warn")).toEqual([]);
});

test("a failure is told and retried after growing pauses, and success ends the series", async () => {
  const refused = failed(new Error("refused"));
  const { clock, log, queue, runs } = aController([refused, refused, done, refused, done]);
  queue.add("a");
  await clock.advance(1_000);
  queue.add("a");
  await clock.advance(1_000);
  expect(runs).toEqual([0, 100, 300, 1_000, 1_100]);
  expect(log.of("warn")).toHaveLength(3);
  expect(log.of("error")).toEqual([]);
});

test("a bug is logged with its stack, counted and retried, and other keys go on", async () => {
  const bugs: unknown[] = [];
  const { clock, log, queue, runs } = aController([new TypeError("oops"), done, done], {
    onBug: (_, error) => bugs.push(error),
  });
  queue.add("a");
  queue.add("b");
  await clock.advance(1_000);
  expect(runs).toEqual([0, 0, 100]);
  expect(bugs).toHaveLength(1);
  const [bug] = log.lines.filter(({ level }) => level === "error");
  expect(bug?.fields?.stack).toContain("controller.test.ts");
});

test("an observer that throws does no harm", async () => {
  const { clock, log, queue, runs } = aController([done, done], {
    onOutcome: () => {
      throw new Error("metrics");
    },
  });
  queue.add("a");
  await clock.settle();
  queue.add("a");
  await clock.settle();
  expect(runs).toHaveLength(2);
  expect(log.of("error")).toEqual(["bug in an observer", "bug in an observer"]);
});

test("what ends because we stop is neither a failure nor a bug", async () => {
  const { clock, log, queue } = aController([], {
    reconcile: (_, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  });
  queue.add("a");
  await clock.settle();
  await queue.stop();
  expect(log.lines).toEqual([]);
  expect(clock.sleeping).toBe(0);
});
