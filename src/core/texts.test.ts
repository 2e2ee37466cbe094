import fc from "fast-check";
import { expect, it } from "vitest";
import { fingerprint } from "./texts.ts";

const aChar = fc.string({ minLength: 1, maxLength: 1 });

it("equal texts have the same fingerprint, and texts that differ in one place have another", () => {
  fc.assert(
    fc.property(fc.string(), fc.tuple(aChar, aChar), (around, [one, other]) => {
      const isSame = fingerprint(around + one + around) === fingerprint(around + other + around);
      expect(isSame).toBe(one === other);
    }),
  );
});
