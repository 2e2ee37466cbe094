import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DocumentMesh, type DocumentNode } from "../../../test/support/document-mesh.ts";
import type { DocumentChange } from "./documents.ts";

let mesh: DocumentMesh;

beforeEach(() => {
  mesh = new DocumentMesh();
});

afterEach(() => mesh.close());

async function two(): Promise<[DocumentNode, DocumentNode]> {
  return [await mesh.start(), await mesh.start()];
}

async function three(): Promise<[DocumentNode, DocumentNode, DocumentNode]> {
  return [await mesh.start(), await mesh.start(), await mesh.start()];
}

describe("linked nodes", () => {
  it("have each other's documents, those from before and those put later", async () => {
    const [a, b] = await two();
    await a.store.put("c", "from-a", '{"n":1}');
    await b.store.put("c", "from-b", '{"n":2}');
    mesh.link(a, b);
    await mesh.quiet();
    await a.store.put("c", "later", '{"n":3}');
    await mesh.quiet();
    const all = { "from-a": { n: 1 }, "from-b": { n: 2 }, later: { n: 3 } };
    expect(await a.content()).toEqual(all);
    expect(await b.content()).toEqual(all);
  });

  it("tell a change on over nodes between them, and those who listen hear it once", async () => {
    const [a, b, c] = await three();
    mesh.link(a, b);
    mesh.link(b, c);
    const heard: DocumentChange[] = [];
    c.store.subscribe({}, (change) => heard.push(change));
    await a.store.put("c", "x", '{"n":1}');
    await mesh.quiet();
    expect(heard).toEqual([{ kind: "upsert", collection: "c", id: "x", json: '{"n":1}' }]);
    await c.store.delete("c", "x");
    await mesh.quiet();
    expect(await a.content()).toEqual({});
  });

  it("get from the others what was told on a link that was lost meanwhile", async () => {
    const [a, b, c] = await three();
    mesh.link(a, b);
    mesh.link(b, c);
    const lost = mesh.link(a, c);
    await mesh.quiet();
    await a.store.put("c", "x", '{"n":1}');
    lost.cut();
    await mesh.quiet();
    await mesh.clock.advance(2000);
    await mesh.quiet();
    expect(await c.content()).toEqual({ x: { n: 1 } });
  });

  it("in a full mesh get a change once each, not once from everybody", async () => {
    const nodes = await mesh.startMany(6);
    const [first] = nodes;
    mesh.linkAll();
    await mesh.quiet();
    const before = nodes.map(({ sync }) => sync.stats().framesReceived);
    await first?.store.put("c", "x", '{"n":1}');
    await mesh.quiet();
    const received = nodes.map(({ sync }, index) => sync.stats().framesReceived - (before[index] ?? 0));
    expect(received).toEqual([0, 1, 1, 1, 1, 1]);
  });

  it("that have the same documents exchange two small frames, however many there are", async () => {
    const [a, b] = await two();
    for (let n = 0; n < 300; n++) await a.store.put("c", `${n}`, `{"n":${n}}`);
    const first = mesh.link(a, b);
    await mesh.quiet();
    expect(Object.keys(await b.content())).toHaveLength(300);
    first.cut();
    const second = mesh.link(a, b);
    await mesh.quiet();
    expect(second.frames).toHaveLength(2);
    expect(Math.max(...second.frames)).toBeLessThan(4096);
  });

  it("exchange only what differs after a time apart", async () => {
    const [a, b] = await two();
    for (let n = 0; n < 300; n++) await a.store.put("c", `${n}`, `{"n":${n}}`);
    const wire = mesh.link(a, b);
    await mesh.quiet();
    wire.cut();
    await a.store.put("c", "7", '{"n":"seven"}');
    await b.store.put("c", "8", '{"n":"eight"}');
    await b.store.put("c", "7", '{"n":7,"b":true}');
    const again = mesh.link(a, b);
    await mesh.quiet();
    expect(await a.content()).toEqual(await b.content());
    expect((await b.content())["7"]).toEqual({ n: "seven", b: true });
    expect(again.frames.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(10_000);
  });
});

describe("a document changed on both sides of a cut", () => {
  it("keeps the fields of both, also inside objects that both created", async () => {
    const [a, b] = await two();
    await a.store.put("c", "x", '{"position":{"lat":1,"by":{"a":1}},"from":"a"}');
    await b.store.put("c", "x", '{"position":{"lon":2,"by":{"b":1}},"name":"b"}');
    const wire = mesh.link(a, b);
    await mesh.quiet();
    const merged = { position: { lat: 1, lon: 2, by: { a: 1, b: 1 } }, from: "a", name: "b" };
    expect(await a.content()).toEqual({ x: merged });
    expect(await b.content()).toEqual({ x: merged });
    wire.cut();
    await a.store.put("c", "x", JSON.stringify({ ...merged, position: { ...merged.position, lat: 7 } }));
    await b.store.put("c", "x", JSON.stringify({ ...merged, position: { ...merged.position, lon: 8 } }));
    mesh.link(a, b);
    await mesh.quiet();
    expect(await a.content()).toEqual(await b.content());
    expect((await a.content()).x).toMatchObject({ position: { lat: 7, lon: 8 } });
  });

  it("shows no members of an object that the other has replaced, and none of them comes back", async () => {
    const [a, b] = await two();
    await a.store.put("c", "x", '{"o":{"n":1}}');
    const wire = mesh.link(a, b);
    await mesh.quiet();
    wire.cut();
    await a.store.put("c", "x", '{"p":1}');
    await b.store.put("c", "x", '{"o":{"n":1,"m":2}}');
    mesh.link(a, b);
    await mesh.quiet();
    expect(await a.content()).toEqual({ x: { p: 1 } });
    await a.store.put("c", "x", '{"o":{"new":1},"p":1}');
    await mesh.quiet();
    expect(await a.content()).toEqual({ x: { o: { new: 1 }, p: 1 } });
    expect(await b.content()).toEqual(await a.content());
  });

  it("and deleted on one is deleted on both", async () => {
    const [a, b] = await two();
    await a.store.put("c", "x", '{"n":1}');
    const wire = mesh.link(a, b);
    await mesh.quiet();
    wire.cut();
    await a.store.delete("c", "x");
    await b.store.put("c", "x", '{"n":2}');
    mesh.link(a, b);
    await mesh.quiet();
    expect(await a.content()).toEqual({});
    expect(await b.content()).toEqual({});
  });

  it("and deleted and put again on one is what was put again", async () => {
    const [a, b] = await two();
    await a.store.put("c", "x", '{"n":1}');
    const wire = mesh.link(a, b);
    await mesh.quiet();
    wire.cut();
    await a.store.delete("c", "x");
    await a.store.put("c", "x", '{"again":true}');
    await b.store.put("c", "x", '{"n":2}');
    mesh.link(a, b);
    await mesh.quiet();
    expect(await a.content()).toEqual({ x: { again: true } });
    expect(await b.content()).toEqual({ x: { again: true } });
  });

  it("with a long history exchanges the changes, not the history", async () => {
    const [a, b] = await two();
    const big = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`field-${n}`, Math.random().toString(36)]));
    await a.store.put("c", "x", JSON.stringify(big));
    const wire = mesh.link(a, b);
    await mesh.quiet();
    wire.cut();
    await a.store.put("c", "x", JSON.stringify({ ...big, a: 1 }));
    await b.store.put("c", "x", JSON.stringify({ ...big, b: 1 }));
    const again = mesh.link(a, b);
    await mesh.quiet();
    expect((await a.content()).x).toEqual({ ...big, a: 1, b: 1 });
    expect((await b.content()).x).toEqual({ ...big, a: 1, b: 1 });
    expect(again.frames.slice(2).reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(6000);
    expect(a.sync.stats().reconciling + b.sync.stats().reconciling).toBe(0);
  });
});

describe("a late joiner", () => {
  it("gets every document, from one of the many it is linked to", async () => {
    const nodes = await mesh.startMany(4);
    for (const [index, { store }] of nodes.entries())
      await Promise.all(Array.from({ length: 100 }, (_, n) => store.put("c", `${index}-${n}`, `{"n":${n}}`)));
    mesh.linkAll();
    await mesh.quiet();
    const late = await mesh.start();
    const wires = nodes.map((node) => mesh.link(late, node));
    await mesh.quiet();
    expect(Object.keys(await late.content())).toHaveLength(400);
    const updates = wires.flatMap(({ frames }) => frames).filter((bytes) => bytes > 25_000);
    expect(updates.length).toBeLessThan(8);
  });

  it("gets the rest from another when the first is lost on the way", async () => {
    const nodes = await mesh.startMany(2);
    const [a, b] = nodes as [DocumentNode, DocumentNode];
    await Promise.all(Array.from({ length: 100 }, (_, n) => a.store.put("c", `${n}`, `{"n":${n}}`)));
    mesh.link(a, b);
    await mesh.quiet();
    const late = await mesh.start();
    const first = mesh.link(late, a);
    mesh.link(late, b);
    while (first.frames.length < 4) await mesh.clock.settle(1);
    first.cut();
    await mesh.quiet();
    expect(Object.keys(await late.content())).toHaveLength(100);
  });
});

describe("a deletion", () => {
  it("reaches nodes that were away, but not those that were away longer than it is remembered", async () => {
    const options = { tombstoneTtlMs: 3_600_000, expireEveryMs: 60_000 };
    const [a, b] = [await mesh.start(options), await mesh.start(options)];
    await a.store.put("c", "x", "1");
    await a.store.put("c", "y", "1");
    const wire = mesh.link(a, b);
    await mesh.quiet();
    wire.cut();
    await a.store.delete("c", "x");
    const again = mesh.link(a, b);
    await mesh.quiet();
    expect(await b.content()).toEqual({ y: 1 });
    again.cut();
    await a.store.delete("c", "y");
    await mesh.clock.advance(3_700_000);
    await mesh.quiet();
    mesh.link(a, b);
    await mesh.quiet();
    expect(await a.content()).toEqual({ y: 1 });
  });
});

describe("a node whose disk is full", () => {
  it("keeps its links, and has everything when there is room again", async () => {
    const a = await mesh.start();
    const b = await mesh.start({ limits: { store: 1000 } });
    const wire = mesh.link(a, b);
    for (let n = 0; n < 10; n++) await a.store.put("c", `${n}`, `{"n":${n}}`);
    await mesh.quiet();
    expect(wire.problem()).toBeUndefined();
    const held = Object.keys(await b.content());
    expect(held.length).toBeGreaterThan(0);
    expect(held.length).toBeLessThan(10);
    for (const id of held.slice(0, 2)) await a.store.delete("c", id);
    await mesh.quiet();
    await mesh.clock.advance(120_000);
    await mesh.quiet();
    expect(Object.keys(await b.content()).length).toBeGreaterThan(held.length - 2);
  });
});
