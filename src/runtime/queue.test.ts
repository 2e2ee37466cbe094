import { setImmediate as nextTurn } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { type QueueOptions, WorkQueue } from "./queue.ts";

function aQueue(overrides: Partial<QueueOptions> = {}) {
  const clock = new FakeClock();
  const queue = new WorkQueue<string>({ clock, parallel: 2, random: () => 1, ...overrides });
  const begun: string[] = [];
  const running = new Map<string, () => void>();
  const begin = () =>
    queue.start((key, signal) => {
      begun.push(`${key}@${clock.now()}`);
      return new Promise((resolve) => {
        running.set(key, resolve);
        signal.addEventListener("abort", () => resolve());
      });
    });
  const finish = async (key: string) => {
    running.get(key)?.();
    running.delete(key);
    await clock.settle();
  };
  return { clock, queue, begun, running, begin, finish };
}

test("a key added a hundred times runs once", async () => {
  const { clock, queue, begun, begin } = aQueue();
  for (let i = 0; i < 100; i++) queue.add("a");
  begin();
  await clock.settle();
  expect(begun).toEqual(["a@0"]);
  expect(queue.waiting).toBe(0);
});

test("a key added while it is worked on runs once more afterwards, never beside itself", async () => {
  const { clock, queue, begun, begin, finish } = aQueue();
  begin();
  queue.add("a");
  await clock.settle();
  queue.add("a");
  queue.add("a");
  await clock.advance(5);
  expect(begun).toEqual(["a@0"]);
  await finish("a");
  expect(begun).toEqual(["a@0", "a@5"]);
});

test("different keys run beside each other, up to the limit, in the order they came", async () => {
  const { clock, queue, begun, begin, finish } = aQueue({ parallel: 2 });
  begin();
  for (const key of ["a", "b", "c", "d"]) queue.add(key);
  await clock.settle();
  expect(begun).toEqual(["a@0", "b@0"]);
  await finish("b");
  expect(begun).toEqual(["a@0", "b@0", "c@0"]);
});

/** How many of three keys, due at the same time, have begun after each turn of the event loop. */
async function turnsOf(beginsForMs: number): Promise<number[]> {
  const queue = new WorkQueue<string>({ clock: new FakeClock(), parallel: 3 });
  const begun: string[] = [];
  queue.start(async (key) => {
    begun.push(key);
    for (const endsAtMs = performance.now() + beginsForMs; performance.now() < endsAtMs; );
  });
  for (const key of ["a", "b", "c"]) queue.add(key);
  const counts: number[] = [];
  while (begun.length < 3) {
    await nextTurn();
    counts.push(begun.length);
  }
  return [...new Set(counts)].filter((count) => count > 0);
}

test("of keys that take long to begin each has a turn of its own", async () => {
  expect(await turnsOf(15)).toEqual([1, 2, 3]);
});

test("keys that begin quickly share one", async () => {
  expect(await turnsOf(0)).toEqual([3]);
});

test("what comes within the window becomes one run at its end", async () => {
  const { clock, queue, begun, begin } = aQueue({ coalesceMs: 100 });
  begin();
  queue.add("a");
  await clock.advance(60);
  queue.add("a");
  await clock.advance(60);
  expect(begun).toEqual(["a@100"]);
});

test("of several times for one key the earliest wins", async () => {
  const { clock, queue, begun, begin } = aQueue();
  begin();
  queue.addAfter("a", 500);
  queue.addAfter("a", 200);
  queue.addAfter("a", 900);
  await clock.advance(1_000);
  expect(begun).toEqual(["a@200"]);
});

test("retries wait twice as long each time, up to a limit, until the key is forgotten", () => {
  const { queue } = aQueue({ backoff: { firstMs: 100, maxMs: 500 } });
  expect([queue.retry("a"), queue.retry("a"), queue.retry("a"), queue.retry("a")]).toEqual([100, 200, 400, 500]);
  expect(queue.retry("b")).toBe(100);
  expect(queue.retrying).toBe(2);
  queue.forget("a");
  expect(queue.retrying).toBe(1);
  expect(queue.retry("a")).toBe(100);
});

test("stopping starts nothing more, waits for what runs, and leaves no timer", async () => {
  const { clock, queue, begun, begin } = aQueue({ parallel: 1 });
  begin();
  queue.add("a");
  queue.add("b");
  queue.addAfter("c", 1_000);
  await clock.settle();
  await queue.stop();
  queue.add("d");
  await clock.advance(5_000);
  expect(begun).toEqual(["a@0"]);
  expect(queue).toMatchObject({ waiting: 0, running: 0 });
  expect(clock.sleeping).toBe(0);
});

describe("against a simple model", () => {
  type Step =
    | { readonly do: "add"; readonly key: string; readonly afterMs: number }
    | { readonly do: "finish"; readonly key: string }
    | { readonly do: "advance"; readonly ms: number };
  const key = fc.constantFrom("a", "b", "c", "d");
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ do: fc.constant("add" as const), key, afterMs: fc.constantFrom(0, 0, 5, 20, 50) }),
    fc.record({ do: fc.constant("finish" as const), key }),
    fc.record({ do: fc.constant("advance" as const), ms: fc.integer({ min: 1, max: 30 }) }),
  );

  /** The same rules, one millisecond at a time. */
  class Model {
    now = 0;
    readonly parallel: number;
    readonly due = new Map<string, number>();
    readonly running = new Set<string>();
    readonly begun: string[] = [];

    constructor(parallel: number) {
      this.parallel = parallel;
    }

    apply(step: Step): void {
      if (step.do === "add") {
        const at = this.now + step.afterMs;
        this.due.set(step.key, Math.min(this.due.get(step.key) ?? at, at));
      } else if (step.do === "finish") this.running.delete(step.key);
      this.begin();
      if (step.do === "advance") for (let i = 0; i < step.ms; i++) this.tick();
    }

    tick(): void {
      this.now++;
      this.begin();
    }

    begin(): void {
      const ready = [...this.due].filter(([name, at]) => at <= this.now && !this.running.has(name));
      for (const [name] of ready.sort(([, a], [, b]) => a - b)) {
        if (this.running.size >= this.parallel) return;
        this.due.delete(name);
        this.running.add(name);
        this.begun.push(`${name}@${this.now}`);
      }
    }
  }

  test("every run begins at the moment and in the order the model says", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.array(step, { maxLength: 30 }), async (parallel, steps) => {
        const { clock, queue, begun, begin, finish } = aQueue({ parallel });
        const model = new Model(parallel);
        begin();
        for (const one of steps) {
          model.apply(one);
          if (one.do === "add") queue.addAfter(one.key, one.afterMs);
          else if (one.do === "finish") await finish(one.key);
          else await clock.advance(one.ms);
          await clock.settle();
          expect(queue.running).toBe(model.running.size);
        }
        expect(begun).toEqual(model.begun);
        expect(queue.waiting).toBe(model.due.size);
        await queue.stop();
        expect(clock.sleeping).toBe(0);
      }),
      { numRuns: 300 },
    );
  });
});
