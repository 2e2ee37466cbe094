import fc from "fast-check";
import { expect, test } from "vitest";
import { Store } from "./store.ts";

const entry = (fact: string, version: number, heardAt = 0) => ({ fact, resourceVersion: String(version), heardAt });

test("equal facts are no change but refresh version and time, and keep the same object", () => {
  const store = new Store<{ value: string }>((before, after) => before.value === after.value);
  const fact = { value: "x" };
  store.put("a", { fact, resourceVersion: "1", heardAt: 1 });
  expect(store.put("a", { fact: { value: "x" }, resourceVersion: "2", heardAt: 2 })).toBeUndefined();
  expect(store.get("a")).toEqual({ fact, resourceVersion: "2", heardAt: 2 });
  expect(store.get("a")?.fact).toBe(fact);
});

test("the list of facts is the same object until one of them changes", () => {
  const store = new Store<string>((before, after) => before === after);
  store.put("a", entry("x", 1));
  const list = store.facts();
  store.put("a", entry("x", 2));
  store.replaceAll({ entries: new Map([["a", entry("x", 2)]]), resourceVersion: "3", askedAt: 0 });
  expect(store.facts()).toBe(list);
  store.put("b", entry("y", 4));
  expect(store.facts()).toEqual(["x", "y"]);
  store.remove("a", { resourceVersion: "5", at: 0 });
  expect(store.facts()).toEqual(["y"]);
  store.replaceAll({ entries: new Map(), resourceVersion: "6", askedAt: 0 });
  expect(store.facts()).toEqual([]);
});

test("taking over a list tells exactly the difference", () => {
  const store = new Store<string>((before, after) => before === after);
  store.put("same", entry("x", 1));
  store.put("changed", entry("x", 2));
  store.put("absent", entry("x", 3));
  const entries = new Map([
    ["same", entry("x", 1)],
    ["changed", entry("y", 5)],
    ["new", entry("z", 6)],
  ]);
  expect(store.replaceAll({ entries, resourceVersion: "7", askedAt: 0 })).toEqual([
    { key: "changed", before: "x", after: "y" },
    { key: "new", after: "z" },
    { key: "absent", before: "x" },
  ]);
});

test("a list that repeats an object as it was is no sign of life of it, a newer version is", () => {
  const store = new Store<string>((before, after) => before === after);
  store.put("same", entry("x", 1, 3));
  store.put("same", entry("x", 1, 9));
  expect(store.get("same")?.heardAt).toBe(3);
  store.put("same", entry("x", 2, 9));
  expect(store.get("same")?.heardAt).toBe(9);
});

/** One object's life as the server has it: at each version it exists or not. */
const histories = fc.array(fc.boolean(), { minLength: 1, maxLength: 12 });

test("whatever is heard, in whatever order, the store ends with the newest that was heard", () => {
  const hearing = fc.array(fc.nat({ max: 11 }), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(histories, hearing, (lives, heard) => {
      const store = new Store<number>((before, after) => before === after);
      const versions = heard.filter((version) => version < lives.length);
      for (const version of versions) {
        const resourceVersion = String(version);
        if (lives[version]) store.put("a", { fact: version, resourceVersion, heardAt: 0 });
        else store.remove("a", { resourceVersion, at: 0 }, true);
      }
      const newest = Math.max(-1, ...versions);
      expect(store.get("a")?.fact).toBe(newest >= 0 && lives[newest] ? newest : undefined);
    }),
  );
});
