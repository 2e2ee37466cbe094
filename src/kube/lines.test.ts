import fc from "fast-check";
import { expect, test } from "vitest";
import { LineSplitter, LineTooLongError } from "./lines.ts";

function split(chunks: readonly Uint8Array[], maxBytes?: number): string[] {
  const splitter = new LineSplitter(maxBytes);
  return chunks.flatMap((chunk) => [...splitter.push(chunk)].map((line) => line.toString()));
}

test("a stream gives the same lines however it is cut into chunks", () => {
  const text = fc.array(fc.string({ unit: "binary" }).map((line) => line.replaceAll("\n", "")));
  fc.assert(
    fc.property(text, fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }), (lines, sizes) => {
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
      const chunks: Buffer[] = [];
      for (let start = 0, i = 0; start < bytes.length; i++) {
        const end = start + (sizes[i % sizes.length] ?? 1);
        chunks.push(bytes.subarray(start, end));
        start = end;
      }
      const expected = lines.map((line) => Buffer.from(line).toString()).filter((line) => line !== "");
      expect(split(chunks)).toEqual(expected);
    }),
  );
});

test("U+2028 inside a line does not end it", () => {
  expect(split([Buffer.from("a\u2028b\u2029c\u0085d\re\n")])).toEqual(["a\u2028b\u2029c\u0085d\re"]);
});

test("a line within one chunk is not copied", () => {
  const chunk = Buffer.from("one\ntwo\n");
  const [line] = new LineSplitter().push(chunk);
  expect(line?.buffer).toBe(chunk.buffer);
});

test("a view into a larger buffer is read within its bounds", () => {
  const whole = new Uint8Array(Buffer.from("xx\nabc\nyy\n"));
  expect(split([whole.subarray(3, 7)])).toEqual(["abc"]);
});

test("an unfinished last line is held back", () => {
  expect(split([Buffer.from("a\nb")])).toEqual(["a"]);
});

test("a line that grows beyond the limit is refused before its end arrives", () => {
  expect(() => split([Buffer.alloc(6, "a"), Buffer.alloc(6, "a")], 10)).toThrow(LineTooLongError);
  expect(() => split([Buffer.from("aaaaaaaaaaa\n")], 10)).toThrow(LineTooLongError);
  expect(split([Buffer.from("aaaaa"), Buffer.from("aaaaa\n")], 10)).toEqual(["aaaaaaaaaa"]);
});

test("a piece of a line is copied and not kept: a million of one byte would take hundreds of megabytes", () => {
  const lines = new LineSplitter();
  const piece = Buffer.from("x");
  const pushed = (text: string): string[] => {
    piece.write(text);
    return [...lines.push(piece)].map(String);
  };
  expect([...lines.push(Buffer.from("first"))]).toEqual([]);
  expect([..."abc\n"].flatMap(pushed)).toEqual(["firstabc"]);
});
