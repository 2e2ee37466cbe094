import { describe, expect, it } from "vitest";
import { MemoryDocuments } from "../../../test/mesh-node/memory-documents.ts";
import { follow } from "./api-subscribe.ts";

const never = new AbortController().signal;

async function take(changes: AsyncGenerator<{ docId: string }>, count: number): Promise<string[]> {
  const taken: string[] = [];
  while (taken.length < count) {
    const { value, done } = await changes.next();
    if (done) break;
    taken.push(value.docId);
  }
  return taken;
}

async function someDocuments(...ids: string[]): Promise<MemoryDocuments> {
  const documents = new MemoryDocuments();
  for (const id of ids) await documents.put("c", id, "1");
  return documents;
}

describe("a subscriber", () => {
  it("of named collections sees first what they hold, however much that is", async () => {
    const documents = await someDocuments("a", "b", "c");
    const limit = { changes: 1, bytes: 100 };
    expect(await take(follow(documents, ["c"], { signal: never, limit }), 3)).toEqual(["a", "b", "c"]);
  });

  it("of everything sees only what changes from now on", async () => {
    const documents = await someDocuments("old");
    const changes = follow(documents, [], { signal: never });
    const first = changes.next();
    await documents.put("anything", "new", "1");
    expect((await first).value).toMatchObject({ collection: "anything", docId: "new" });
    await changes.return(undefined);
    expect(documents.subscribers).toBe(0);
  });

  it.each([
    ["too many changes", { changes: 2, bytes: 1000 }],
    ["too many bytes", { changes: 100, bytes: 2 }],
  ])("that falls behind by %s is told, and forgotten", async (_, limit) => {
    const documents = await someDocuments("old");
    const changes = follow(documents, ["c"], { signal: never, limit });
    await changes.next();
    for (const id of ["1", "2", "3", "4"]) await documents.put("c", id, "1");
    await expect(changes.next()).rejects.toThrow(/does not keep up; subscribe again/);
    expect(documents.subscribers).toBe(0);
  });

  it("ends with the reason when the call is over, also while it waits", async () => {
    const documents = await someDocuments();
    const ending = new AbortController();
    const changes = follow(documents, ["c"], { signal: ending.signal });
    const next = changes.next();
    ending.abort(new Error("the node is shutting down"));
    await expect(next).rejects.toThrow("shutting down");
    expect(documents.subscribers).toBe(0);
  });
});
