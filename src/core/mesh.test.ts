import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aMesh } from "../../test/support/build.ts";
import { networksIn, overlaps } from "./cidr.ts";
import { type Mesh, overlapsWithin } from "./mesh.ts";
import { overlapping } from "./overlapping.ts";

/** A mesh whose second cluster declares these. */
function meshOf(texts: readonly string[]): Mesh {
  const mesh = aMesh(2);
  const entries = mesh.entries.map((entry, index) =>
    index === 1 ? { ...entry, networks: { form: "flat", allowed: networksIn(texts) } as const } : entry,
  );
  return { ...mesh, entries };
}

const messagesOf = (mesh: Mesh): string[] => overlapsWithin(mesh).map(({ message }) => message);

describe("the overlaps within a mesh", () => {
  it("are named in the order in which the networks are declared", () => {
    expect(messagesOf(meshOf(["10.2.1.0/24", "10.0.0.0/8", "10.2.0.0/16"]))).toEqual([
      "10.1.0.0/16 of c1 overlaps 10.0.0.0/8 of c2",
      "10.200.1.0/24 of c1 overlaps 10.0.0.0/8 of c2",
      "10.2.1.0/24 of c2 overlaps 10.0.0.0/8 of c2",
      "10.2.1.0/24 of c2 overlaps 10.2.0.0/16 of c2",
      "10.0.0.0/8 of c2 overlaps 10.2.0.0/16 of c2",
    ]);
  });

  it("are at most fifty by name, and how many there are is said first", () => {
    const messages = messagesOf(meshOf(Array.from({ length: 20_000 }, () => "10.9.0.0/16")));
    expect(messages).toHaveLength(51);
    expect(messages[0]).toBe("199990000 pairs of networks overlap, of which 50 are named");
    expect(new Set(messages.slice(1))).toEqual(new Set(["10.9.0.0/16 of c2 overlaps 10.9.0.0/16 of c2"]));
  });

  it("are those that comparing each with each finds", () => {
    const text = fc.oneof(
      fc
        .tuple(fc.constantFrom(0, 64, 128, 255), fc.integer({ min: 22, max: 32 }))
        .map(([a, p]) => `10.0.${a % 4}.${a}/${p}`),
      fc.integer({ min: 100, max: 128 }).map((prefix) => `fd00::${prefix.toString(16)}/${prefix}`),
    );
    fc.assert(
      fc.property(fc.array(text, { maxLength: 12 }), (texts) => {
        const declared = networksIn(texts).map((cidr) => ({ cidr }));
        const expected = declared.flatMap((a, index) =>
          declared.slice(index + 1).flatMap((b) => (overlaps(a.cidr, b.cidr) ? [[a, b]] : [])),
        );
        expect(overlapping(declared, 1000)).toEqual({ pairs: expected, total: expected.length });
        expect(overlapping(declared, 2)).toMatchObject({ total: expected.length });
        expect(overlapping(declared, 2).pairs.length).toBe(Math.min(2, expected.length));
      }),
    );
  });
});
