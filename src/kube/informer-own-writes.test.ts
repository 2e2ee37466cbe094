import { expect, test } from "vitest";
import { anInformer, valueLabel } from "../../test/support/an-informer.ts";
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

/** An informer that tells which of its objects it has read. */
function aReadingInformer() {
  const read: string[] = [];
  const decode = (object: KubeObject) => {
    read.push(`${object.metadata.name} ${object.metadata.resourceVersion}`);
    return valueLabel(object);
  };
  return { ...anInformer({ decode }), read };
}

const ours = (name: string, version: number, more: object = {}): KubeObject => {
  const { metadata } = anObject(name, version, "mine");
  return { metadata: { ...metadata, uid: `uid-of-${name}`, ...more } };
};

test("the event of our own write is not even parsed, and counts as seen", async () => {
  const { informer, clock, stream, facts, start, log } = anInformer();
  await start();
  informer.learn(ours("a", 11));
  const line = JSON.stringify(added(ours("a", 11)));
  stream.sendText(`${line.slice(0, -1)} is no JSON\n`);
  await clock.settle();
  expect(await informer.reached("11", 0)).toBe(true);
  stream.send(added(anObject("b", 12)));
  await clock.settle();
  expect(facts()).toEqual({ a: "mine", b: "x" });
  expect(log.of("warn")).toEqual([]);
});

test.each([
  ["of another version", modified(ours("a", 12)), "a 12"],
  ["of another object with the same version", added(ours("b", 11)), "b 11"],
])("an event %s is read", async (_, event, expected) => {
  const { informer, clock, stream, read, start } = aReadingInformer();
  await start();
  informer.learn(ours("a", 11));
  stream.send(event);
  await clock.settle();
  expect(read).toEqual(["a 11", expected]);
});

test("a version that stands in a label is not taken for the object's own", async () => {
  const { informer, clock, stream, facts, start } = anInformer();
  await start();
  informer.learn(ours("a", 11));
  stream.send(modified(ours("a", 12, { labels: { resourceVersion: "11", value: "theirs" } })));
  await clock.settle();
  expect(facts()).toEqual({ a: "theirs" });
});

test("a text that looks like the version of our own write is a text", async () => {
  const { informer, clock, stream, facts, start } = anInformer();
  await start();
  informer.learn(ours("a", 11));
  const note = JSON.stringify(added(ours("a", 11)));
  stream.send(modified(ours("a", 12, { annotations: { note }, labels: { value: "theirs" } })));
  await clock.settle();
  expect(facts()).toEqual({ a: "theirs" });
});

test("the deletion of what we wrote is seen, whatever version it has", async () => {
  const { informer, clock, stream, facts, start } = anInformer();
  await start();
  informer.learn(ours("a", 11));
  stream.send(deleted(ours("a", 11)));
  await clock.settle();
  expect(facts()).toEqual({});
});

test("an event that came before the answer to our write is awaited no more", async () => {
  const { informer, clock, stream, read, start } = aReadingInformer();
  await start();
  stream.send(added(ours("a", 11)));
  await clock.settle();
  informer.learn(ours("a", 11));
  stream.send(modified(ours("a", 11)), added(ours("b", 12)));
  await clock.settle();
  expect(read).toEqual(["a 11", "b 12"]);
});

test("a version of our own write that a new history uses again is another version", async () => {
  const { informer, client, clock, facts, start } = anInformer();
  const restored = new ScriptedStream();
  client.willList(aList(10), aList(20, ours("a", 11)), aList(5, anObject("a", 4)));
  client.willWatch(new ScriptedStream(), new ScriptedStream(), restored);
  await start();
  informer.learn(ours("a", 11));
  informer.relist();
  await clock.settle();
  informer.relist();
  await clock.advance(160_000);
  expect(facts()).toEqual({ a: "x" });
  restored.send(modified(ours("a", 11, { labels: { value: "theirs" } })));
  await clock.settle();
  expect(facts()).toEqual({ a: "theirs" });
});
