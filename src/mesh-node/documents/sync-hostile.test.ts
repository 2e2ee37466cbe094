import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DocumentMesh, type DocumentNode, type Wire } from "../../../test/support/document-mesh.ts";
import type { EndpointId } from "../identity.ts";
import type { Link } from "../links/link.ts";
import { ByteWriter } from "./bytes.ts";
import { digestBytes } from "./digest.ts";
import { decodeFrame, encodeFrame, type Frame } from "./frames.ts";
import type { DocumentKey } from "./version.ts";

let mesh: DocumentMesh;
let node: DocumentNode;

beforeEach(async () => {
  mesh = new DocumentMesh();
  node = await mesh.start();
  await node.store.put("c", "x", '{"n":1}');
});

afterEach(() => mesh.close());

/** A peer that says what a test wants and keeps what it hears. */
async function stranger(...frames: Uint8Array[]): Promise<{ wire: Wire; heard: Frame[] }> {
  const heard: Frame[] = [];
  const handler = {
    up: (link: Link) => {
      void (async () => {
        for (const frame of frames) await link.send(frame);
      })().catch(() => undefined);
    },
    receive: (_: Link, frame: Uint8Array) => void heard.push(decodeFrame(frame)),
    down: () => undefined,
  };
  const wire = mesh.wire({ id: "ff".repeat(32) as EndpointId, handler }, { id: node.id, handler: node.sync });
  await mesh.quiet();
  return { wire, heard };
}

const key = "c:x" as DocumentKey;
const foreignHead = "ab".repeat(32);
const digest = encodeFrame({ kind: "digest", sums: new Uint8Array(digestBytes) });
const live = { kind: "live", generation: 1, heads: [foreignHead] } as const;
const garbage = Uint8Array.from({ length: 200 }, (_, index) => (index * 37) % 256);

function updates(bytes: Uint8Array, overrides: object = {}): Uint8Array {
  const update = { key, stamp: live, base: [], bytes, ...overrides };
  return encodeFrame({ kind: "updates", told: [], updates: [update] });
}

describe("a frame that no node of ours makes ends the link and changes nothing:", () => {
  it.each<[string, Uint8Array]>([
    ["nothing", new Uint8Array()],
    ["another format", Uint8Array.of(9, 0)],
    ["an unknown kind", Uint8Array.of(1, 77)],
    ["a digest that is too short", digest.subarray(0, 100)],
    ["a digest with more behind it", Buffer.concat([digest, Buffer.alloc(1)])],
    [
      "a count that the frame cannot hold",
      new ByteWriter()
        .byte(1)
        .byte(2)
        .number(2 ** 40)
        .finish(),
    ],
    ["a number without end", Buffer.concat([Uint8Array.of(1, 2), Buffer.alloc(20, 0xff)])],
    ["a key that is none", updates(garbage, { key: "no colon" })],
    [
      "a key that is not text",
      Buffer.concat([Uint8Array.of(1, 2, 1, 3), Uint8Array.of(0xff, 0x3a, 0xff), Uint8Array.of(1, 0)]),
    ],
    ["a document that is not one", updates(garbage)],
    ["a new document that is not one", updates(garbage, { key: "c:new" })],
    ["no changes at all", updates(new Uint8Array())],
    [
      "a reconciliation that is not one",
      encodeFrame({ kind: "sync", key, generation: 1, isLast: false, message: garbage }),
    ],
  ])("%s", async (_, frame) => {
    const { wire } = await stranger(frame);
    expect(wire.problem()).toBeDefined();
    expect(await node.content()).toEqual({ x: { n: 1 } });
    await node.store.put("c", "x", '{"n":2}');
    expect(await node.content()).toEqual({ x: { n: 2 } });
  });
});

describe("a peer that talks nonsense in good form", () => {
  it("is asked for what is missing, once for each thing it says", async () => {
    const { wire, heard } = await stranger(updates(garbage, { base: [foreignHead] }));
    expect(wire.problem()).toBeUndefined();
    expect(heard.filter(({ kind }) => kind === "wants")).toHaveLength(1);
  });

  it("gets no answer about documents that are not there", async () => {
    const wants = [{ key: "c:none" as DocumentKey, generation: 3, heads: [foreignHead] }];
    const { wire, heard } = await stranger(encodeFrame({ kind: "wants", wants }));
    expect(wire.problem()).toBeUndefined();
    expect(heard.map(({ kind }) => kind)).toEqual(["digest"]);
  });

  it("cannot make a deletion last longer by a date in the future", async () => {
    const stamp = { kind: "tombstone", generation: 1 } as const;
    const update = { key, stamp, deletedAtMs: 8e15 };
    await stranger(encodeFrame({ kind: "updates", told: [], updates: [update] }));
    expect(await node.content()).toEqual({});
    await mesh.clock.advance(8 * 24 * 3_600_000);
    await mesh.quiet();
    expect(node.store.stats().tombstones).toBe(0);
  });

  it("sends an older generation and hears of the newer", async () => {
    await node.store.delete("c", "x");
    await node.store.put("c", "x", '{"n":2}');
    const { heard } = await stranger(updates(garbage));
    expect(heard).toContainEqual(
      expect.objectContaining({
        kind: "updates",
        updates: [expect.objectContaining({ key, stamp: expect.objectContaining({ generation: 2 }) })],
      }),
    );
    expect(await node.content()).toEqual({ x: { n: 2 } });
  });
});

it("frames with one wrong bit never do more than end the link", async () => {
  const other = await mesh.start();
  await other.store.put("c", "y", '{"list":[1,{"a":"b"}],"o":{"p":null}}');
  const recorded: Uint8Array[] = [];
  const spy = {
    up: (link: Link) => void link.send(digest),
    receive: (link: Link, frame: Uint8Array) => {
      recorded.push(frame);
      const decoded = decodeFrame(frame);
      if (decoded.kind !== "entries") return;
      const wants = decoded.entries.map((entry) => ({ key: entry.key, generation: 0, heads: [] }));
      void link.send(encodeFrame({ kind: "wants", wants })).catch(() => undefined);
    },
    down: () => undefined,
  };
  mesh.wire({ id: "ee".repeat(32) as EndpointId, handler: spy }, { id: other.id, handler: other.sync });
  await mesh.quiet();
  const sample = recorded.find((frame) => decodeFrame(frame).kind === "updates");
  if (!sample) throw new Error("no documents were sent");
  for (let at = 0; at < sample.length; at += 3) {
    const wrong = Uint8Array.from(sample);
    wrong[at] = (wrong[at] ?? 0) ^ (1 << (at % 8));
    const { wire } = await stranger(wrong);
    wire.cut();
  }
  expect((await node.content()).x).toEqual({ n: 1 });
  await node.store.put("c", "x", '{"still":"works"}');
  expect((await node.content()).x).toEqual({ still: "works" });
});
