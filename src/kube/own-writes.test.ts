import { expect, test } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { OwnWrites } from "./own-writes.ts";
import { Progress } from "./progress.ts";

const ours = (version: number) => ({ name: "a", uid: `u${version}`, resourceVersion: String(version) });
const line = (version: number) => Buffer.from(JSON.stringify({ type: "ADDED", object: { metadata: ours(version) } }));

test("a write is repeated once", () => {
  const progress = new Progress(new FakeClock());
  const writes = new OwnWrites(progress);
  writes.add(ours(11));
  expect(writes.areRepeatedBy(line(11))).toBe(true);
  expect(progress.version).toBe("11");
  expect(writes.areRepeatedBy(line(11))).toBe(false);
});

test("a write that the watch has come past is not awaited", () => {
  const progress = new Progress(new FakeClock());
  const writes = new OwnWrites(progress);
  progress.advance("11");
  writes.add(ours(11));
  expect(writes.areRepeatedBy(line(11))).toBe(false);
});

test("writes that nobody repeats are forgotten before they fill the memory", () => {
  const writes = new OwnWrites(new Progress(new FakeClock()));
  for (let version = 100; version <= 1100; version++) writes.add(ours(version));
  expect(writes.areRepeatedBy(line(100))).toBe(false);
  expect(writes.areRepeatedBy(line(1100))).toBe(true);
});

test.each([
  ["spaces", '{"type": "ADDED", "object": {"metadata": {"resourceVersion":"11","uid":"u11"}}}'],
  ["another order", '{"object":{"metadata":{"resourceVersion":"11","uid":"u11"}},"type":"ADDED"}'],
  ["no version", '{"type":"ADDED","object":{"metadata":{"uid":"u11"}}}'],
  ["a version that does not end", '{"type":"ADDED","object":{"metadata":{"uid":"u11","resourceVersion":"11'],
])("a line with %s is not taken for ours", (_, text) => {
  const writes = new OwnWrites(new Progress(new FakeClock()));
  writes.add(ours(11));
  expect(writes.areRepeatedBy(Buffer.from(text))).toBe(false);
});
