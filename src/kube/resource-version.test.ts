import fc from "fast-check";
import { expect, test } from "vitest";
import { compareVersions } from "./resource-version.ts";

test("versions are ordered as the integers they are, beyond what a number can hold", () => {
  const version = fc.bigInt({ min: 0n, max: 2n ** 80n });
  fc.assert(
    fc.property(version, version, (a, b) => {
      expect(Math.sign(compareVersions(`${a}`, `${b}`))).toBe(a < b ? -1 : a > b ? 1 : 0);
    }),
  );
});
