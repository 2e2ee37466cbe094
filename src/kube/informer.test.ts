import { expect, test } from "vitest";
import { anInformer } from "../../test/support/an-informer.ts";
import {
  added,
  aKubeError,
  aList,
  anObject,
  bookmark,
  deleted,
  modified,
  page,
  ScriptedStream,
} from "../../test/support/scripted-client.ts";
import { systemClock } from "../runtime/clock.ts";
import type { KubeList, KubeObject } from "./object.ts";

test("the list is read page by page as a quorum read, then watched from its version", async () => {
  const { client, facts, start, informer, changes } = anInformer({ pageSize: 2, labelSelector: "a=b" });
  client.willList(page("next", anObject("a", 1), anObject("b", 2)), page(undefined, anObject("c", 3)));
  await start();
  expect(facts()).toEqual({ a: "x", b: "x", c: "x" });
  expect(client.listsAsked).toMatchObject([{ limit: 2, labelSelector: "a=b" }, { continue: "next" }]);
  expect(client.listsAsked.every(({ resourceVersion }) => resourceVersion === undefined)).toBe(true);
  expect(client.watchesAsked).toMatchObject([{ resourceVersion: "10", labelSelector: "a=b", timeoutSeconds: 450 }]);
  expect(changes).toEqual([
    { key: "a", after: "x" },
    { key: "b", after: "x" },
    { key: "c", after: "x" },
  ]);
  expect(informer.listCount).toBe(1);
});

test("nothing of an unfinished list is seen", async () => {
  const { client, informer, start } = anInformer();
  client.willList(page("next", anObject("a", 1)), () => new Promise<never>(() => undefined));
  await start();
  expect(informer.size).toBe(0);
  expect(informer.knowledge).toMatchObject({ state: "unknown", reason: "not-yet-listed" });
});

test("an expired continue token restarts the list", async () => {
  const { client, clock, facts, start } = anInformer();
  client.willList(page("old", anObject("a", 1)), aKubeError("gone"), page(undefined, anObject("b", 2)));
  await start();
  await clock.advance(200);
  expect(facts()).toEqual({ b: "x" });
  expect(client.listsAsked.map((options) => options.continue)).toEqual([undefined, "old", undefined]);
});

test.each([null, {}, { metadata: { name: 5, resourceVersion: "1" } }, { metadata: { name: "a", resourceVersion: 1 } }])(
  "a list that holds %j is no list",
  async (item) => {
    const { client, informer, start } = anInformer();
    client.willList(page(undefined, item as KubeObject));
    await start();
    expect(informer.size).toBe(0);
    expect(informer.knowledge).toMatchObject({ state: "unknown", reason: "server" });
  },
);

test("a continue token that leads nowhere is an error and no endless loop", async () => {
  const { client, informer, start } = anInformer();
  client.willList(page("again", anObject("a", 1)));
  await start();
  expect(client.listsAsked.length).toBe(2);
  expect(informer.knowledge).toMatchObject({ state: "unknown", reason: "server" });
});

test("a list without an end is given up", async () => {
  const { client, clock, informer, start } = anInformer({ mostObjects: 100 });
  let asked = 0;
  client.willList(() => page(`after-${++asked}`, anObject(`n${asked}`, 1)));
  await start();
  await clock.settle(200);
  expect(informer.knowledge).toMatchObject({ state: "unknown", reason: "server" });
  expect(informer.knowledge).toMatchObject({ error: { detail: "more than 100 objects" } });
  expect(asked).toBe(101);
});

test("a watch that tells of ever more objects is given up, and the list decides", async () => {
  const { client, clock, stream, informer, start } = anInformer({ mostObjects: 3 });
  client.willList(aList(10, anObject("a", 1)), aList(20, anObject("b", 12)));
  client.willWatch(stream, new ScriptedStream());
  await start();
  stream.send(...[11, 12, 13, 14, 15].map((version) => added(anObject(`n${version}`, version))));
  await clock.settle();
  expect(informer.size).toBe(4);
  await clock.advance(200);
  expect([...informer.entries()]).toEqual([["b", "x"]]);
});

test("a server that fails is asked for smaller pages, down to a few, and for larger ones when it answers", async () => {
  const { client, clock, informer, facts, start } = anInformer({ pageSize: 50 });
  const tooLarge = aKubeError("server");
  client.willList(
    tooLarge,
    aKubeError("timeout"),
    tooLarge,
    tooLarge,
    aKubeError("unreachable"),
    aList(10, anObject("a", 1)),
  );
  await start();
  await clock.advance(20_000);
  expect(client.listsAsked.map(({ limit }) => limit)).toEqual([50, 25, 12, 10, 10, 10]);
  expect(facts()).toEqual({ a: "x" });
  for (let again = 0; again < 4; again++) {
    client.willList(aList(11 + again, anObject("a", 1)));
    informer.relist();
    await clock.settle();
  }
  expect(client.listsAsked.slice(6).map(({ limit }) => limit)).toEqual([20, 40, 50, 50]);
});

test("events change the facts, and each change is told once with before and after", async () => {
  const { client, clock, stream, changes, facts, start } = anInformer();
  client.willList(aList(10, anObject("a", 5)));
  await start();
  changes.length = 0;
  stream.send(added(anObject("b", 11)), modified(anObject("a", 12, "y")), deleted(anObject("b", 13)));
  await clock.settle();
  expect(facts()).toEqual({ a: "y" });
  expect(changes).toEqual([
    { key: "b", after: "x" },
    { key: "a", before: "x", after: "y" },
    { key: "b", before: "x", gone: "deleted" },
  ]);
});

test("equal facts are no change but are heard", async () => {
  const { client, clock, stream, informer, changes, start } = anInformer();
  client.willList(aList(10, anObject("a", 5)));
  await start();
  changes.length = 0;
  const first = informer.heardAt("a");
  await clock.advance(30_000);
  stream.send(modified(anObject("a", 11)));
  await clock.settle();
  expect(changes).toEqual([]);
  expect(first).toBe(0);
  expect(informer.heardAt("a")).toBe(30_000);
});

test("a duplicated event changes nothing, not even one from before a deletion", async () => {
  const { clock, stream, changes, facts, start } = anInformer();
  await start();
  const events = [added(anObject("a", 11)), deleted(anObject("a", 12)), added(anObject("b", 13))];
  stream.send(...events, ...events);
  await clock.settle();
  expect(facts()).toEqual({ b: "x" });
  expect(changes).toHaveLength(3);
});

test("an event that is older than the object it is about is ignored", async () => {
  const { clock, stream, facts, start, client } = anInformer();
  client.willList(aList(10, anObject("a", 9, "new")));
  await start();
  stream.send(modified(anObject("a", 8, "old")), deleted(anObject("a", 8)));
  await clock.settle();
  expect(facts()).toEqual({ a: "new" });
});

test("after a clean end the watch goes on from the last version, bookmarks included, without a list", async () => {
  const { client, clock, stream, start } = anInformer();
  const second = new ScriptedStream();
  client.willWatch(stream, second);
  await start();
  stream.send(added(anObject("a", 11)), bookmark(40));
  await clock.advance(6_000);
  stream.end();
  await clock.settle();
  expect(second.opened).toBe(true);
  expect(client.watchesAsked.map(({ resourceVersion }) => resourceVersion)).toEqual(["10", "40"]);
  expect(client.listsAsked).toHaveLength(1);
});

test("a lost connection is resumed, not listed again", async () => {
  const { client, clock, stream, facts, start } = anInformer();
  const second = new ScriptedStream().send(added(anObject("b", 12)));
  client.willWatch(stream, second);
  await start();
  stream.send(added(anObject("a", 11))).fail(aKubeError("unreachable", "watch"));
  await clock.advance(200);
  expect(client.watchesAsked.map(({ resourceVersion }) => resourceVersion)).toEqual(["10", "11"]);
  expect(facts()).toEqual({ a: "x", b: "x" });
  expect(client.listsAsked).toHaveLength(1);
});

test.each([
  ["410", (stream: ScriptedStream) => stream.fail(aKubeError("gone", "watch"))],
  ["garbage", (stream: ScriptedStream) => stream.sendText("garbage\n")],
  ["an endless line", (stream: ScriptedStream) => stream.sendText("x".repeat(5 * 1024 * 1024))],
])("after %s the list is read again and the difference is told", async (_, harm) => {
  const { client, clock, stream, changes, facts, start } = anInformer();
  client.willList(aList(10, anObject("a", 5), anObject("b", 6)), aList(20, anObject("b", 19, "y"), anObject("c", 18)));
  client.willWatch(stream, new ScriptedStream());
  await start();
  changes.length = 0;
  harm(stream);
  await clock.advance(300);
  expect(facts()).toEqual({ b: "y", c: "x" });
  expect(changes).toEqual([
    { key: "b", before: "x", after: "y" },
    { key: "c", after: "x" },
    { key: "a", before: "x", gone: "absent" },
  ]);
  expect(client.watchesAsked.at(-1)).toMatchObject({ resourceVersion: "20" });
});

test("an object that cannot be decoded keeps its last fact, is logged once, and does not stop the others", async () => {
  const { client, clock, stream, log, changes, facts, start } = anInformer();
  const broken = (version: number): KubeObject => ({ metadata: { name: "a", resourceVersion: `${version}` } });
  client.willList(aList(10, anObject("a", 5)), aList(20, broken(18), anObject("b", 12)));
  await start();
  stream.send(modified(broken(11)), added(anObject("b", 12)), modified(broken(13)));
  await clock.settle();
  stream.sendText("garbage\n");
  await clock.advance(300);
  expect(client.listsAsked).toHaveLength(2);
  expect(facts()).toEqual({ a: "x", b: "x" });
  expect(changes.filter(({ gone }) => gone)).toEqual([]);
  expect(log.of("error")).toEqual(["object cannot be decoded"]);
  expect(JSON.stringify(log.lines)).not.toContain("a secret");
});

test("a listener that throws is logged and the others still hear", async () => {
  const { client, log, changes, informer, start } = anInformer();
  const late: string[] = [];
  informer.onChange(() => {
    throw new Error("bug");
  });
  const silence = informer.onChange(() => late.push("silenced"));
  silence();
  informer.onChange(({ key }) => late.push(key));
  client.willList(aList(10, anObject("a", 5), anObject("b", 5)));
  await start();
  expect(changes).toHaveLength(2);
  expect(late).toEqual(["a", "b"]);
  expect(log.of("error")).toEqual(["listener failed", "listener failed"]);
});

test("asking for a list ends the watch, lists at once and watches from there", async () => {
  const { client, clock, stream, facts, informer, start } = anInformer();
  client.willList(aList(10), aList(30, anObject("a", 29)));
  client.willWatch(stream, new ScriptedStream());
  await start();
  const lists: (number | undefined)[] = [];
  informer.onListed(() => lists.push(informer.lastCompleteListAt));
  await clock.advance(1_000);
  informer.relist();
  await clock.settle();
  expect(stream.closed).toBe(true);
  expect(facts()).toEqual({ a: "x" });
  expect(lists).toEqual([1_000]);
  expect(client.watchesAsked.at(-1)).toMatchObject({ resourceVersion: "30" });
});

test("a list asked for while one is read is read after it", async () => {
  const { client, clock, informer, start } = anInformer();
  const { promise, resolve } = Promise.withResolvers<KubeList<KubeObject>>();
  client.willList(() => promise, aList(11));
  await start();
  informer.relist();
  resolve(aList(10));
  await clock.settle();
  expect(informer.listCount).toBe(2);
});

test("the safety net lists again from time to time and heals what the watch lost", async () => {
  const { client, clock, facts, informer, start } = anInformer({ relistEveryMs: 60_000 });
  client.willList(aList(10), aList(12, anObject("a", 11)));
  client.willWatch(() => new ScriptedStream());
  await start();
  await clock.advance(60_000);
  expect(facts()).toEqual({ a: "x" });
  await clock.advance(60_000);
  expect(informer.listCount).toBe(3);
});

test("a list that is older than what was seen is not believed", async () => {
  const { client, clock, stream, facts, informer, start } = anInformer();
  client.willList(aList(10), aList(9), aList(12, anObject("a", 11)));
  client.willWatch(stream, new ScriptedStream());
  await start();
  stream.send(added(anObject("a", 11)));
  await clock.settle();
  informer.relist();
  await clock.settle();
  expect(facts()).toEqual({ a: "x" });
  await clock.advance(200);
  expect(informer.listCount).toBe(2);
  expect(facts()).toEqual({ a: "x" });
});

test("a server that stays behind for minutes was restored from a backup, and its new history counts", async () => {
  const { client, clock, facts, log, informer, start } = anInformer();
  client.willList(aList(1000, anObject("a", 900)), aList(50, anObject("b", 40)));
  client.willWatch(() => new ScriptedStream());
  await start();
  informer.relist();
  await clock.advance(100_000);
  expect(facts()).toEqual({ a: "x" });
  expect(informer.knowledge.state).toBe("unknown");
  await clock.advance(60_000);
  expect(facts()).toEqual({ b: "x" });
  expect(informer.knowledge.state).toBe("known");
  expect(log.of("warn")).toContain("the server's history went back, starting over");
});

test("a burst of events leaves time for timers", async () => {
  const { client, stream, informer } = anInformer({ clock: systemClock });
  client.willWatch(stream);
  const padding = "x".repeat(2_000);
  stream.send(...Array.from({ length: 20_000 }, (_, index) => added(anObject(`n${index % 100}`, 11 + index, padding))));
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  informer.start();
  expect(await informer.reached("20010", 30_000)).toBe(true);
  clearInterval(timer);
  await informer.stop();
  expect(turns).toBeGreaterThan(3);
});
