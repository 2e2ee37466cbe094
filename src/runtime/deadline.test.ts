import { expect, test } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { DeadlineError, withDeadline } from "./deadline.ts";

const forever = () => new Promise<never>(() => undefined);

test("work that is done in time gives its answer and leaves no timer", async () => {
  const clock = new FakeClock();
  expect(await withDeadline({ clock, ms: 100 }, async () => "done")).toBe("done");
  await expect(withDeadline({ clock, ms: 100 }, () => Promise.reject(new Error("own")))).rejects.toThrow("own");
  expect(clock.sleeping).toBe(0);
});

test("work that ignores its signal is left behind at the deadline", async () => {
  const clock = new FakeClock();
  let signal: AbortSignal | undefined;
  const late = withDeadline({ clock, ms: 100 }, (given) => {
    signal = given;
    return forever();
  });
  const verdict = expect(late).rejects.toThrow(DeadlineError);
  await clock.advance(100);
  await verdict;
  expect(signal?.aborted).toBe(true);
});

test("an abort from outside ends the wait with its reason, also when it came before", async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const waiting = withDeadline({ clock, ms: 100, signal: stop.signal }, forever);
  stop.abort(new Error("stopping"));
  await expect(waiting).rejects.toThrow("stopping");
  await expect(withDeadline({ clock, ms: 100, signal: stop.signal }, forever)).rejects.toThrow("stopping");
  expect(clock.sleeping).toBe(0);
});
