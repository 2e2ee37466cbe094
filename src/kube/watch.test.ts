import { expect, test } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import {
  added,
  anObject,
  bookmark,
  deleted,
  errorEvent,
  modified,
  ScriptedClient,
  ScriptedStream,
} from "../../test/support/scripted-client.ts";
import type { KubeError } from "./errors.ts";
import type { KubeObject } from "./object.ts";
import { nodes } from "./resource.ts";
import { BrokenStreamError, type WatchEvent, watchEvents } from "./watch.ts";

function aWatch(stream = new ScriptedStream(), more: { maxLineBytes?: number } = {}) {
  const clock = new FakeClock();
  const stop = new AbortController();
  const client = new ScriptedClient();
  client.willWatch(stream);
  const events: WatchEvent<KubeObject>[] = [];
  const request = { client, resource: nodes, clock, signal: stop.signal, resourceVersion: "7", timeoutSeconds: 60 };
  const run = async (): Promise<KubeError | "ended"> => {
    try {
      for await (const event of watchEvents({ ...request, idleMarginMs: 10_000, ...more })) events.push(event);
      return "ended";
    } catch (error) {
      return error as KubeError;
    }
  };
  return { stream, clock, stop, client, events, end: run() };
}

test("the four kinds of events come out in order, and a clean end is an end", async () => {
  const { stream, events, end, client } = aWatch();
  const node = anObject("a", 8);
  stream.send(added(node), modified(anObject("a", 9)), bookmark(12), deleted(anObject("a", 13))).end();
  expect(await end).toBe("ended");
  expect(events.map(({ type, resourceVersion }) => [type, resourceVersion])).toEqual([
    ["ADDED", "8"],
    ["MODIFIED", "9"],
    ["BOOKMARK", "12"],
    ["DELETED", "13"],
  ]);
  expect(events[0]).toMatchObject({ object: node });
  expect(client.watchesAsked[0]).toMatchObject({ resourceVersion: "7", timeoutSeconds: 60 });
});

test.each([
  [410, "Expired", "gone"],
  [410, "Gone", "gone"],
  [429, "TooManyRequests", "too-many-requests"],
  [504, "Timeout", "timeout"],
  [401, "Unauthorized", "unauthorized"],
  [403, "Forbidden", "forbidden"],
  [500, "InternalError", "server"],
  [0, "Expired", "gone"],
] as const)("an ERROR event with code %i %s is told as %s", async (code, reason, kind) => {
  const { stream, end } = aWatch();
  stream.send(errorEvent(code, reason));
  expect(await end).toMatchObject({ kind, verb: "watch" });
});

test("an ERROR event that says when to come back is heard", async () => {
  const { stream, end } = aWatch();
  stream.send(errorEvent(429, "TooManyRequests", { retryAfterSeconds: 3 }));
  expect(await end).toMatchObject({ retryAfterMs: 3000 });
});

test("the remote side's words never get into the error", async () => {
  const { stream, end } = aWatch();
  stream.send(errorEvent(500, "planted-secret"));
  const error = (await end) as KubeError;
  expect(`${error.stack} ${JSON.stringify(error)}`).not.toContain("planted-secret");
});

test.each([
  ["<html>bad gateway</html>", "watch stream is not JSON"],
  ["42", "watch stream is not JSON"],
  ["null", "watch stream is not JSON"],
  ['{"type":"ADDED"}', "watch event without an object"],
  ['{"type":"ADDED","object":null}', "watch event without an object"],
  ['{"type":"ADDED","object":{"metadata":{"resourceVersion":"9"}}}', "watch event without an object"],
  ['{"type":"NEWS","object":{"metadata":{"name":"a","resourceVersion":"9"}}}', "watch event of an unknown type"],
])("a line that is no event breaks the stream: %s", async (line, detail) => {
  const { stream, end, events } = aWatch();
  stream.send(added(anObject("a", 8))).sendText(`${line}\n`);
  const error = await end;
  expect(error).toBeInstanceOf(BrokenStreamError);
  expect(error).toMatchObject({ kind: "server", detail });
  expect(events).toHaveLength(1);
});

test("a line without end breaks the stream", async () => {
  const { stream, end } = aWatch(new ScriptedStream(), { maxLineBytes: 100 });
  stream.sendText("x".repeat(200));
  expect(await end).toBeInstanceOf(BrokenStreamError);
});

test("a watch that goes silent is ended by the idle deadline, and any sign of life extends it", async () => {
  const { stream, clock, end, events } = aWatch();
  await clock.advance(60_000);
  stream.send(bookmark(20));
  await clock.advance(69_000);
  expect(events).toHaveLength(1);
  expect(stream.closed).toBe(false);
  await clock.advance(2_000);
  expect(await end).toMatchObject({ kind: "timeout", verb: "watch" });
  expect(stream.closed).toBe(true);
  expect(clock.sleeping).toBe(0);
});

test("aborting ends the stream with the reason and leaves no timer", async () => {
  const { stream, clock, stop, end } = aWatch();
  await clock.settle();
  const reason = new Error("enough");
  stop.abort(reason);
  expect(await end).toBe(reason);
  expect(stream.closed).toBe(true);
  await clock.settle();
  expect(clock.sleeping).toBe(0);
});
