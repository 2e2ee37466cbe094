import { hash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../runtime/clock.ts";
import { silentLogger } from "../../runtime/log.ts";
import type { DocumentChange, Documents } from "./documents.ts";
import { type DocumentsOptions, openDocuments } from "./open-documents.ts";

let directory: string;
let open: Documents[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "documents-"));
});

afterEach(async () => {
  for (const documents of open) await documents.close();
  open = [];
  await rm(directory, { recursive: true });
});

async function openHere(overrides: Partial<DocumentsOptions> = {}): Promise<Documents> {
  const documents = await openDocuments({ directory, clock: systemClock, log: silentLogger, ...overrides });
  open.push(documents);
  return documents;
}

describe("a document", () => {
  it("is read as it was put, also after a restart", async () => {
    const first = await openHere();
    await first.put("nodes", "a", '{"name":"a","tags":["x","y"],"at":{"lat":1.5,"lon":-3}}');
    expect(await first.get("nodes", "a")).toBe('{"at":{"lat":1.5,"lon":-3},"name":"a","tags":["x","y"]}');
    await first.close();
    const second = await openHere();
    expect(await second.get("nodes", "a")).toBe('{"at":{"lat":1.5,"lon":-3},"name":"a","tags":["x","y"]}');
    expect(await second.get("nodes", "b")).toBeUndefined();
  });

  it("may be any JSON, put over any other, and stays so after a restart", async () => {
    const documents = await openHere();
    let last = "null";
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 4 }), async (value) => {
        last = JSON.stringify(value);
        await documents.put("any", "thing", last);
        expect(JSON.parse((await documents.get("any", "thing")) ?? "")).toEqual(JSON.parse(last));
      }),
      { numRuns: 60 },
    );
    await documents.close();
    const again = await openHere();
    expect(JSON.parse((await again.get("any", "thing")) ?? "")).toEqual(JSON.parse(last));
  });

  it("keeps fields with names that mean something in JavaScript", async () => {
    const documents = await openHere();
    const json = '{"":1,"__proto__":{"x":1},"constructor":"c","toString":null}';
    await documents.put("odd", "names", json);
    expect(await documents.get("odd", "names")).toBe(json);
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });

  it("that is put again unchanged adds nothing to the file", async () => {
    const documents = await openHere();
    const json = '{"half":"\\ud800","list":[1,{"b":[true]}],"minus":-0,"big":1e300}';
    await documents.put("c", "a", json);
    const before = documents.stats();
    await documents.put("c", "a", json);
    expect(documents.stats()).toEqual(before);
  });

  it("that is deleted is gone, and can be put again", async () => {
    const documents = await openHere();
    await documents.put("c", "a", '{"old":1}');
    expect(await documents.delete("c", "a")).toBe(true);
    expect(await documents.get("c", "a")).toBeUndefined();
    expect(await documents.delete("c", "a")).toBe(false);
    expect(await documents.delete("c", "never")).toBe(false);
    expect(documents.stats()).toMatchObject({ documents: 0, tombstones: 1 });
    await documents.put("c", "a", '{"new":2}');
    expect(await documents.get("c", "a")).toBe('{"new":2}');
    await documents.close();
    expect(await (await openHere()).get("c", "a")).toBe('{"new":2}');
  });

  it("keeps its place when a thousand others come and go", async () => {
    const documents = await openHere({ slackBytes: 20_000 });
    await documents.put("c", "kept", '{"n":0}');
    for (let round = 0; round < 20; round++) {
      const ids = Array.from({ length: 50 }, (_, index) => `${round}-${index}`);
      await Promise.all(ids.map((id) => documents.put("c", id, `{"round":${round}}`)));
      await Promise.all(ids.map((id) => documents.delete("c", id)));
      await documents.put("c", "kept", `{"n":${round}}`);
    }
    expect(await documents.list("c")).toEqual([{ id: "kept", json: '{"n":19}' }]);
    await documents.close();
    const again = await openHere();
    expect(await again.list("c")).toEqual([{ id: "kept", json: '{"n":19}' }]);
    expect(again.stats()).toMatchObject({ documents: 1, tombstones: 1000 });
  });
});

describe("collections", () => {
  it("are listed by name, their documents by id", async () => {
    const documents = await openHere();
    await documents.put("b", "2", "{}");
    await documents.put("b", "1:x", "[]");
    await documents.put("a", "1", '"text"');
    await documents.put("gone", "1", "{}");
    await documents.delete("gone", "1");
    expect(documents.collections()).toEqual(["a", "b"]);
    expect(await documents.list("b")).toEqual([
      { id: "1:x", json: "[]" },
      { id: "2", json: "{}" },
    ]);
    expect(await documents.list("none")).toEqual([]);
  });
});

describe("bad input", () => {
  it.each<[string, [string, string, string], RegExp]>([
    ["text that is not JSON", ["c", "a", "{"], /^the document is not JSON$/],
    ["no text", ["c", "a", ""], /^the document is not JSON$/],
    ["an empty collection", ["", "a", "{}"], /^collection must not be empty$/],
    ["a colon in the collection", ["c:d", "a", "{}"], /^collection must not contain a colon$/],
    ["an empty id", ["c", "", "{}"], /^document id must not be empty$/],
    ["a line break in the id", ["c", "a\n", "{}"], /^document id must not contain control characters$/],
    ["half a character in the id", ["c", "\ud800", "{}"], /^document id must not contain control characters$/],
    ["a very long id", ["c", "a".repeat(513), "{}"], /^document id must not be longer than 512 bytes$/],
    ["nesting without end", ["c", "a", "[".repeat(5000) + "]".repeat(5000)], /^the document is nested deeper than 100/],
  ])("%s is refused with the reason", async (_, [collection, id, json], message) => {
    const documents = await openHere();
    await expect(documents.put(collection, id, json)).rejects.toMatchObject({ kind: "invalid", message });
    expect(documents.stats()).toMatchObject({ documents: 0, bytes: 0 });
  });

  it("is refused when it is too large, and the document stays as it was", async () => {
    const documents = await openHere({ limits: { json: 1000, history: 2000, store: 6000 } });
    await documents.put("c", "a", '{"n":1}');
    const large = JSON.stringify({ text: "x".repeat(1000) });
    await expect(documents.put("c", "a", large)).rejects.toMatchObject({ kind: "too-large" });
    const fill = async () => {
      for (let n = 0; n < 400; n++) await documents.put("c", "a", JSON.stringify({ n: hash("sha256", `${n}`) }));
    };
    await expect(fill()).rejects.toMatchObject({ kind: "too-large", message: /history/ });
    expect(await documents.get("c", "a")).toMatch(/^\{"n":"[0-9a-f]{64}"\}$/);
    const others = async () => {
      for (let n = 0; n < 100; n++) await documents.put("c", `other-${n}`, "{}");
    };
    await expect(others()).rejects.toMatchObject({ kind: "too-large", message: /all documents/ });
    expect(await documents.delete("c", "a")).toBe(true);
    await documents.put("c", "a", '{"n":1}');
  });
});

describe("a subscriber", () => {
  it("hears the documents there are, then every change, of its collections only", async () => {
    const documents = await openHere();
    await documents.put("c", "a", '{"n":1}');
    await documents.put("other", "a", '{"n":1}');
    const heard: DocumentChange[] = [];
    const end = documents.subscribe({ collections: ["c"], snapshot: true }, (change) => heard.push(change));
    await documents.put("c", "a", '{"n":2}');
    await documents.put("other", "a", '{"n":2}');
    await documents.delete("c", "a");
    end();
    await documents.put("c", "a", '{"n":3}');
    expect(heard).toEqual([
      { kind: "upsert", collection: "c", id: "a", json: '{"n":1}' },
      { kind: "upsert", collection: "c", id: "a", json: '{"n":2}' },
      { kind: "delete", collection: "c", id: "a" },
    ]);
  });

  it("that fails does not keep the others from hearing", async () => {
    const documents = await openHere();
    const heard: string[] = [];
    documents.subscribe({}, () => {
      throw new Error("deaf");
    });
    documents.subscribe({}, (change) => heard.push(change.kind));
    await documents.put("c", "a", "1");
    expect(heard).toEqual(["upsert"]);
  });
});

describe("closed documents", () => {
  it("say so", async () => {
    const documents = await openHere();
    await documents.put("c", "a", "1");
    await documents.close();
    await expect(documents.put("c", "a", "2")).rejects.toMatchObject({ kind: "closed" });
    await expect(documents.get("c", "a")).rejects.toMatchObject({ kind: "closed" });
    await expect(documents.delete("c", "a")).rejects.toMatchObject({ kind: "closed" });
    await documents.close();
  });

  it("have written what was begun before", async () => {
    const documents = await openHere();
    const puts = Promise.all(["1", "2", "3"].map((json) => documents.put("c", json, json)));
    await documents.close();
    await puts;
    expect((await (await openHere()).list("c")).map(({ json }) => json)).toEqual(["1", "2", "3"]);
  });
});
