import { expect, test } from "vitest";
import { anInformer } from "../../test/support/an-informer.ts";
import {
  added,
  aList,
  anObject,
  bookmark,
  deleted,
  modified,
  ScriptedStream,
} from "../../test/support/scripted-client.ts";
import type { KubeList, KubeObject } from "./object.ts";

test("the answer of our own write is seen at once, and its event later is no change", async () => {
  const { informer, clock, stream, changes, facts, start } = anInformer();
  await start();
  informer.learn(anObject("a", 11, "mine"));
  expect(facts()).toEqual({ a: "mine" });
  stream.send(added(anObject("a", 11, "mine")));
  await clock.settle();
  expect(changes).toEqual([{ key: "a", after: "mine" }]);
});

test("the answer of our own write does not undo something newer", async () => {
  const { informer, clock, stream, facts, start } = anInformer();
  await start();
  stream.send(added(anObject("a", 12, "theirs")), added(anObject("b", 13)), deleted(anObject("b", 15)));
  await clock.settle();
  informer.learn(anObject("a", 11, "mine"));
  informer.learn(anObject("b", 14, "mine"));
  expect(facts()).toEqual({ a: "theirs" });
});

test("older events that the watch still brings do not undo our own write", async () => {
  const { informer, clock, stream, facts, start } = anInformer();
  await start();
  informer.learn(anObject("a", 15, "mine"));
  stream.send(added(anObject("a", 11)), modified(anObject("a", 12)), deleted(anObject("a", 13)));
  await clock.settle();
  expect(facts()).toEqual({ a: "mine" });
});

test("our own deletion is seen at once, and older events do not bring the object back", async () => {
  const { informer, client, clock, stream, changes, facts, start } = anInformer();
  client.willList(aList(10, anObject("a", 5)));
  await start();
  informer.learn(anObject("a", 12, "mine"));
  informer.learnDeleted({ name: "a" });
  expect(facts()).toEqual({});
  stream.send(modified(anObject("a", 11)), modified(anObject("a", 12, "mine")), deleted(anObject("a", 13)));
  await clock.settle();
  expect(facts()).toEqual({});
  expect(changes.at(-1)).toEqual({ key: "a", before: "mine", gone: "deleted" });
  stream.send(added(anObject("a", 14, "again")));
  await clock.settle();
  expect(facts()).toEqual({ a: "again" });
});

test("a list that was asked for before our own writes does not undo them", async () => {
  const { informer, client, clock, facts, start } = anInformer();
  const { promise, resolve } = Promise.withResolvers<KubeList<KubeObject>>();
  client.willList(aList(10, anObject("a", 5), anObject("b", 6)), () => promise, aList(20, anObject("b", 6)));
  client.willWatch(() => new ScriptedStream());
  await start();
  informer.relist();
  await clock.advance(10);
  informer.learn(anObject("c", 12));
  informer.learnDeleted({ name: "b" });
  resolve(aList(11, anObject("a", 5), anObject("b", 6)));
  await clock.settle();
  expect(facts()).toEqual({ a: "x", c: "x" });
  await clock.advance(10);
  informer.relist();
  await clock.settle();
  expect(facts()).toEqual({ b: "x" });
});

test("the deletion of something unknown is nothing", async () => {
  const { informer, changes, start } = anInformer();
  await start();
  informer.learnDeleted({ name: "nobody" });
  expect(changes).toEqual([]);
});

test("waiting for a version ends with the event, the bookmark or the list that reaches it", async () => {
  const { informer, client, clock, stream, start } = anInformer();
  client.willList(aList(10), aList(40));
  await start();
  const answers: string[] = [];
  const wait = (version: string) =>
    void informer.reached(version, 60_000).then((ok) => answers.push(`${version} ${ok}`));
  for (const version of ["9", "11", "20", "100", "40"]) wait(version);
  await clock.settle();
  expect(answers).toEqual(["9 true"]);
  stream.send(added(anObject("a", 11)));
  await clock.settle();
  expect(answers.at(-1)).toBe("11 true");
  stream.send(bookmark(25));
  await clock.settle();
  expect(answers.at(-1)).toBe("20 true");
  informer.relist();
  await clock.settle();
  expect(answers.at(-1)).toBe("40 true");
  await clock.advance(60_000);
  expect(answers.at(-1)).toBe("100 false");
});

test("our own write does not count as reached", async () => {
  const { informer, clock, start } = anInformer();
  await start();
  informer.learn(anObject("a", 50));
  const reached = informer.reached("50", 5_000);
  await clock.advance(5_000);
  expect(await reached).toBe(false);
});
