import { describe, expect, test } from "vitest";
import { anInformer } from "../../test/support/an-informer.ts";
import {
  added,
  aKubeError,
  aList,
  anObject,
  bookmark,
  errorEvent,
  page,
  ScriptedStream,
} from "../../test/support/scripted-client.ts";

describe("known and unknown", () => {
  test("nothing is known before the first complete list, and everything after it", async () => {
    const { informer, knowledge, clock, start } = anInformer();
    expect(informer.knowledge).toEqual({ state: "unknown", since: 0, reason: "not-yet-listed" });
    await clock.advance(100);
    await start();
    expect(informer.knowledge).toEqual({ state: "known", since: 100 });
    expect(knowledge).toHaveLength(1);
  });

  test("an empty cluster is known to be empty", async () => {
    const { informer, start } = anInformer();
    await start();
    expect(informer).toMatchObject({ size: 0, knowledge: { state: "known" } });
  });

  test("a short interruption is not told", async () => {
    const { informer, client, clock, stream, knowledge, start } = anInformer();
    client.willWatch(
      stream,
      aKubeError("unreachable", "watch"),
      aKubeError("unreachable", "watch"),
      new ScriptedStream(),
    );
    await start();
    stream.fail(aKubeError("unreachable", "watch"));
    await clock.advance(20_000);
    expect(client.watchesAsked).toHaveLength(4);
    expect(informer.knowledge.state).toBe("known");
    expect(knowledge).toHaveLength(1);
  });

  test("an interruption that lasts makes it unknown since it began, keeps the facts, and ends with the next watch", async () => {
    const { informer, client, clock, stream, facts, knowledge, start } = anInformer();
    client.willList(aList(10, anObject("a", 5)));
    client.willWatch(stream, aKubeError("unreachable", "watch"));
    await start();
    await clock.advance(7_000);
    stream.fail(aKubeError("unreachable", "watch"));
    await clock.advance(1_900);
    expect(informer.knowledge.state).toBe("known");
    await clock.advance(200);
    expect(informer.knowledge).toMatchObject({ state: "unknown", reason: "unreachable", since: 7_000 });
    expect(facts()).toEqual({ a: "x" });
    client.willWatch(new ScriptedStream());
    await clock.advance(30_000);
    expect(informer.knowledge.state).toBe("known");
    expect(knowledge.map(({ state }) => state)).toEqual(["known", "unknown", "known"]);
    expect(informer.listCount).toBe(1);
  });

  test("an attempt that hangs does not hide how long the watch is gone", async () => {
    const { informer, client, clock, stream, start } = anInformer();
    client.willWatch(stream, () => new Promise<never>(() => undefined));
    await start();
    stream.fail(aKubeError("timeout", "watch"));
    await clock.advance(2_100);
    expect(informer.knowledge).toMatchObject({ state: "unknown", reason: "timeout" });
  });

  test("a large list that goes on is no interruption; one that stops is, and so is one without an end", async () => {
    const { informer, client, clock, start } = anInformer();
    const pages = (count: number, everyMs: number) =>
      Array.from({ length: count }, (_, index) => async () => {
        await clock.sleep(everyMs);
        return page(index < count - 1 ? `after-${index}` : undefined, anObject(`n${index}`, 1));
      });
    await start();
    client.willList(...pages(10, 1_900));
    informer.relist();
    await clock.advance(18_900);
    expect([informer.knowledge.state, informer.size]).toEqual(["known", 0]);
    await clock.advance(200);
    expect([informer.knowledge.state, informer.size]).toEqual(["known", 10]);
    client.willList(...pages(2, 2_100));
    informer.relist();
    await clock.advance(2_050);
    expect(informer.knowledge.state).toBe("unknown");
    await clock.advance(10_000);
    expect(informer.knowledge.state).toBe("known");
    client.willList(...pages(40, 1_000));
    informer.relist();
    await clock.advance(30_500);
    expect(informer.knowledge.state).toBe("known");
    await clock.advance(2_500);
    expect(informer.knowledge.state).toBe("unknown");
  });

  test.each(["unauthorized", "forbidden", "not-found"] as const)("%s is an answer: unknown at once", async (kind) => {
    const { informer, client, clock, start } = anInformer();
    await start();
    client.willList(aKubeError(kind));
    informer.relist();
    await clock.settle();
    expect(informer.knowledge).toMatchObject({ state: "unknown", reason: kind, error: { kind } });
  });

  test("the reason of not knowing follows the last error, and is told when it changes", async () => {
    const { client, clock, knowledge, start } = anInformer();
    client.willList(aKubeError("unreachable"), aKubeError("unreachable"), aKubeError("unauthorized"));
    await start();
    await clock.advance(5_000);
    expect(knowledge.map((state) => state.state === "unknown" && state.reason)).toEqual([
      "unreachable",
      "unauthorized",
    ]);
  });

  test("where watching is forbidden it polls, stays known and says so, and watches when it may", async () => {
    const { informer, client, clock, knowledge, facts, start } = anInformer();
    client.willList(aList(10), aList(20, anObject("a", 15)));
    client.willWatch(aKubeError("forbidden", "watch"));
    await start();
    expect(informer.knowledge).toMatchObject({ state: "known", polling: true });
    await clock.advance(29_000);
    expect(informer.listCount).toBe(1);
    await clock.advance(1_000);
    expect(facts()).toEqual({ a: "x" });
    await clock.advance(300_000);
    expect(informer.listCount).toBe(12);
    expect(knowledge.filter(({ state }) => state === "unknown")).toEqual([]);
    expect(knowledge).toHaveLength(2);
    client.willWatch(new ScriptedStream());
    await clock.advance(30_000);
    expect(informer.knowledge).toEqual({ state: "known", since: 360_000 });
  });

  test("where both list and watch become forbidden it is unknown", async () => {
    const { informer, client, clock, stream, start } = anInformer();
    client.willWatch(stream, aKubeError("forbidden", "watch"));
    await start();
    client.willList(aKubeError("forbidden"));
    await clock.advance(40_000);
    stream.fail(aKubeError("unreachable", "watch"));
    await clock.advance(1_000);
    expect(informer.knowledge).toMatchObject({ state: "unknown", reason: "forbidden" });
  });

  test("polling that fails becomes unknown after the grace", async () => {
    const { informer, client, clock, start } = anInformer();
    client.willList(aList(10), aKubeError("server"));
    client.willWatch(aKubeError("forbidden", "watch"));
    await start();
    await clock.advance(31_000);
    expect(informer.knowledge.state).toBe("known");
    await clock.advance(2_000);
    expect(informer.knowledge).toMatchObject({ state: "unknown", reason: "server" });
  });
});

describe("failures", () => {
  test("are counted by what was asked and what went wrong; what is asked to end has not failed", async () => {
    const { informer, client, clock, stream, start } = anInformer();
    client.willList(aKubeError("unauthorized"), aKubeError("server"), aKubeError("server"), aList(10));
    client.willWatch(stream, aKubeError("forbidden", "watch"), new ScriptedStream());
    await start();
    expect(informer.readFailures).toEqual(new Map([["list unauthorized", 1]]));
    await clock.advance(5_000);
    stream.fail(aKubeError("unreachable", "watch"));
    await clock.advance(60_000);
    informer.relist();
    await clock.settle();
    const failed = { "list unauthorized": 1, "list server": 2, "watch unreachable": 1, "watch forbidden": 1 };
    expect(Object.fromEntries(informer.readFailures)).toEqual(failed);
  });
});

describe("patience", () => {
  test("errors are retried with growing, bounded pauses", async () => {
    const times: number[] = [];
    const { client, clock, start } = anInformer({ random: () => 1, backoff: { firstMs: 100, maxMs: 1_000 } });
    client.willList(() => {
      times.push(clock.now());
      throw aKubeError("server");
    });
    await start();
    await clock.advance(4_000);
    expect(times).toEqual([0, 100, 300, 700, 1_500, 2_500, 3_500]);
  });

  test("Retry-After is honoured, within reason", async () => {
    const { client, clock, start } = anInformer();
    client.willList(aKubeError("too-many-requests", "list", { retryAfterMs: 7_000 }));
    await start();
    await clock.advance(6_900);
    expect(client.listsAsked).toHaveLength(1);
    client.willList(aKubeError("too-many-requests", "list", { retryAfterMs: 1e12 }));
    await clock.advance(200);
    expect(client.listsAsked).toHaveLength(2);
    await clock.advance(300_000);
    expect(client.listsAsked).toHaveLength(3);
  });

  test("a server that accepts every watch and closes it at once is asked ever more rarely", async () => {
    const { client, clock, start } = anInformer({ random: () => 1 });
    client.willWatch(() => new ScriptedStream().end());
    await start();
    await clock.advance(200_000);
    expect(client.watchesAsked.length).toBeLessThan(16);
    expect(client.listsAsked).toHaveLength(1);
  });

  test("a server that sends garbage after every list is asked ever more rarely", async () => {
    const { client, clock, start } = anInformer({ random: () => 1 });
    let version = 10;
    client.willList(() => aList(++version));
    client.willWatch(() => new ScriptedStream().send(bookmark(++version)).sendText("garbage\n"));
    await start();
    await clock.advance(200_000);
    expect(client.listsAsked.length).toBeLessThan(16);
  });

  test("a stream that brought something ends the series of failures", async () => {
    const { client, clock, start } = anInformer({ random: () => 1 });
    const lost = aKubeError("unreachable", "watch");
    const useful = new ScriptedStream().send(added(anObject("a", 11))).fail(lost);
    client.willWatch(...Array(8).fill(lost), useful, new ScriptedStream());
    await start();
    await clock.advance(200 * (2 ** 8 - 1) - 1);
    expect(client.watchesAsked).toHaveLength(8);
    await clock.advance(1);
    expect(client.watchesAsked).toHaveLength(9);
    await clock.advance(200);
    expect(client.watchesAsked).toHaveLength(10);
  });

  test("asking for a list skips the pause", async () => {
    const { client, clock, informer, start } = anInformer();
    client.willList(aKubeError("too-many-requests", "list", { retryAfterMs: 60_000 }), aList(10));
    await start();
    informer.relist();
    await clock.settle();
    expect(informer.knowledge.state).toBe("known");
  });

  test("a version the server has not reached yet means later, not another list", async () => {
    const { client, clock, stream, start } = anInformer();
    client.willWatch(stream, new ScriptedStream());
    await start();
    stream.send(errorEvent(504, "Timeout", { causes: [{ reason: "ResourceVersionTooLarge" }] }));
    await clock.advance(200);
    expect(client.watchesAsked).toHaveLength(2);
    expect(client.listsAsked).toHaveLength(1);
  });

  test("a failure that is no KubeError is logged as the bug it is, and retried", async () => {
    const { client, clock, log, informer, start } = anInformer();
    client.willList(() => {
      throw new TypeError("bug");
    }, aList(10));
    await start();
    expect(log.of("error")).toEqual(["unexpected failure of list or watch"]);
    await clock.advance(200);
    expect(informer.knowledge.state).toBe("known");
  });
});

describe("stopping", () => {
  test("it ends the stream, leaves no timer, keeps the facts as unknown, and may be repeated", async () => {
    const { informer, client, clock, stream, knowledge, facts, start } = anInformer({ relistEveryMs: 5_000 });
    client.willList(aList(10, anObject("a", 5)));
    await start();
    const waiting = informer.reached("99", 60_000);
    await Promise.all([informer.stop(), informer.stop()]);
    await informer.stop();
    expect(stream.closed).toBe(true);
    expect(await waiting).toBe(false);
    expect(clock.sleeping).toBe(0);
    expect(facts()).toEqual({ a: "x" });
    expect(knowledge.at(-1)).toMatchObject({ state: "unknown", reason: "stopped" });
    informer.start();
    informer.relist();
    await clock.advance(60_000);
    expect(client.listsAsked).toHaveLength(1);
  });

  test.each([
    ["a pause", aKubeError("unreachable")],
    ["a list", ({ signal }: { signal?: AbortSignal }) => hangUntil(signal)],
  ])("it does not wait for %s to end", async (_, answer) => {
    const { informer, client, clock, start } = anInformer();
    client.willList(answer);
    await start();
    await informer.stop();
    expect(clock.sleeping).toBe(0);
    expect(informer.listCount).toBe(0);
  });

  test("one that never ran stops too", async () => {
    const { informer } = anInformer();
    await informer.stop();
    expect(informer.knowledge).toMatchObject({ reason: "stopped" });
  });
});

function hangUntil(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
}
