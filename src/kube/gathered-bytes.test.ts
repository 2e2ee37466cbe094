import { describe, expect, it } from "vitest";
import { GatheredBytes } from "./gathered-bytes.ts";

describe("bytes that arrive in pieces", () => {
  it("are all there, in their order, whatever the size of the pieces", () => {
    const gathered = new GatheredBytes();
    const all = Buffer.from(Array.from({ length: 20_000 }, (_, index) => index % 251));
    for (let start = 0, size = 1; start < all.length; start += size, size = (size * 7) % 997)
      gathered.add(all.subarray(start, start + size));
    expect(gathered.length).toBe(all.length);
    expect(gathered.take().equals(all)).toBe(true);
  });

  it("take no more than twice their number, and some kilobytes", () => {
    const gathered = new GatheredBytes();
    for (let count = 0; count < 100_000; count++) gathered.add(Buffer.from("x"));
    expect(gathered.take().buffer.byteLength).toBeLessThanOrEqual(200_000 + 8192);
  });

  it("stay as they were taken while the next ones are gathered", () => {
    const gathered = new GatheredBytes();
    gathered.add(Buffer.from("first"));
    const first = gathered.take();
    gathered.add(Buffer.from("again"));
    expect([String(first), String(gathered.take()), gathered.length]).toEqual(["first", "again", 0]);
  });
});
